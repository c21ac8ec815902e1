package dev.larder.server.store;

import dev.larder.layout.StoreLayout;
import dev.larder.posix.BulkIo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What stands in {@code daemon.lock}, one {@code key=value} a line. For people, and for the next start; whether the daemon lives
 * is told by the lock alone.
 *
 * @param pid the process
 * @param started when it started
 * @param bootId which boot of the machine that was
 * @param formatVersion the layout of the store
 * @param isClean whether it stopped in order, so that its catalog can be trusted
 */
record LockRecord(long pid, String started, String bootId, int formatVersion, boolean isClean) {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    /** No record is longer; what somebody else has put there may be. */
    private static final int LONGEST_BYTES = 4096;

    /** Returns what stands in a lock file that is open and regular, whatever bytes it is: the lock alone counts. */
    static String text(int descriptor) {
        BulkIo io = BulkIo.system();
        ByteBuffer direct = ByteBuffer.allocateDirect(LONGEST_BYTES);
        byte[] text = new byte[(int) io.read(descriptor, 0, io.addressOf(direct), LONGEST_BYTES)];
        direct.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    /** Reads the record in a lock file that is open and regular. */
    static LockRecord read(int descriptor) {
        return parse(text(descriptor));
    }

    static LockRecord ofThisProcess() {
        return new LockRecord(
                ProcessHandle.current().pid(),
                Instant.now().toString(),
                currentBootId(),
                StoreLayout.FORMAT_VERSION,
                false);
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
                Boolean.parseBoolean(values.getOrDefault("clean", "false")));
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
        return new LockRecord(pid, started, bootId, formatVersion, true);
    }

    /** Tells whether a store that this record was found in holds versions that this daemon can adopt. */
    boolean fitsThisBoot() {
        return formatVersion == StoreLayout.FORMAT_VERSION && bootId.equals(currentBootId());
    }

    byte[] toBytes() {
        String text = "pid=" + pid + "\nstarted=" + started + "\nbootId=" + bootId + "\nformatVersion=" + formatVersion
                + "\nclean=" + isClean + "\n";
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
