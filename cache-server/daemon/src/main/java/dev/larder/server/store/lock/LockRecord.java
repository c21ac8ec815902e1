package dev.larder.server.store.lock;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.ReleaseVersion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The contents of {@code daemon.lock}, one {@code key=value} a line, for people and for the next start. Only the lock itself shows whether
 * the daemon lives.
 *
 * @param pid the process
 * @param started when it started
 * @param bootId identifies the machine's boot
 * @param formatVersion the layout of the store
 * @param release the version of Larder
 * @param isClean whether it stopped in order, so that its catalog can be trusted
 * @param contents the state of the published versions while this record is in the file
 */
public record LockRecord(
        long pid,
        String started,
        String bootId,
        int formatVersion,
        String release,
        boolean isClean,
        Contents contents) {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    /** Longer than any record of ours; another program may have written more. */
    private static final int LONGEST_BYTES = 4096;

    /** The trust in the versions of an earlier daemon. */
    public enum Contents {
        /** They are as they were published. */
        INTACT,
        /** They were synced before the machine stopped, and have not been checked since. */
        UNVERIFIED,
        /** Data may be missing: the machine stopped before they were synced, or another release wrote them. */
        UNTRUSTED
    }

    /** Returns the contents of a lock file that is open and regular. They may be any bytes. */
    static String text(int descriptor) {
        ByteBuffer direct = ByteBuffer.allocateDirect(LONGEST_BYTES);
        byte[] text = new byte[(int) BulkIo.system().read(descriptor, 0, direct, 0, LONGEST_BYTES)];
        direct.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    /** Reads the record from a lock file that is open and regular. */
    public static LockRecord read(int descriptor) {
        return parse(text(descriptor));
    }

    /** Describes this process as the owner of a store since {@code start}. */
    static LockRecord ofThisProcess(Contents contents, Instant start) {
        return new LockRecord(
                ProcessHandle.current().pid(),
                start.toString(),
                currentBootId(),
                StoreLayout.FORMAT_VERSION,
                ReleaseVersion.text(),
                false,
                contents);
    }

    static LockRecord parse(String text) {
        Map<String, String> values = text.lines()
                .filter(line -> line.indexOf('=') > 0)
                .collect(Collectors.toMap(
                        line -> line.substring(0, line.indexOf('=')),
                        line -> line.substring(line.indexOf('=') + 1),
                        (first, second) -> second));
        return new LockRecord(
                number(values.get("pid")),
                values.getOrDefault("started", "unknown"),
                values.getOrDefault("bootId", "unknown"),
                (int) number(values.get("formatVersion")),
                values.getOrDefault("release", "unknown"),
                Boolean.parseBoolean(values.getOrDefault("clean", "false")),
                contents(values.getOrDefault("contents", "intact")));
    }

    private static Contents contents(String word) {
        try {
            return Contents.valueOf(word.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException unknown) {
            return Contents.UNTRUSTED;
        }
    }

    private static long number(@Nullable String text) {
        try {
            return text == null ? -1 : Long.parseLong(text);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private static String currentBootId() {
        try {
            return Files.readString(BOOT_ID).trim();
        } catch (IOException e) {
            return "unknown";
        }
    }

    LockRecord stoppedInOrder() {
        return new LockRecord(pid, started, bootId, formatVersion, release, true, contents);
    }

    /** Returns whether this daemon can adopt the catalog of a store with this record. */
    boolean fitsThisBoot() {
        return formatVersion == StoreLayout.FORMAT_VERSION && bootId.equals(currentBootId());
    }

    /**
     * Returns how far the versions in a store with this record can be trusted.
     *
     * @param isVolatile whether the file system loses everything when the machine stops
     */
    Contents contentsFound(boolean isVolatile) {
        if (pid < 0) { // a crash of the machine may leave an empty file
            return isVolatile ? Contents.INTACT : Contents.UNTRUSTED;
        } else if (formatVersion != StoreLayout.FORMAT_VERSION || contents == Contents.UNTRUSTED) {
            return Contents.UNTRUSTED;
        } else if (bootId.equals(currentBootId())) {
            return contents;
        }
        return isClean ? Contents.UNVERIFIED : Contents.UNTRUSTED;
    }

    byte[] toBytes() {
        String text = "pid=" + pid + "\nstarted=" + started + "\nbootId=" + bootId + "\nformatVersion=" + formatVersion
                + "\nprotocol=" + Protocol.NUMBER + "\nrelease=" + release + "\nclean=" + isClean + "\ncontents="
                + contents.name().toLowerCase(Locale.ROOT) + "\n";
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
