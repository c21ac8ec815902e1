package dev.larder.server.source.formats;

import dev.larder.error.LarderException;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;

/** Kinds of encoded images, recognised by how they begin; a file may have the suffix of one and be of another. */
public enum ImageFormat {
    JPEG("ffd8ff", 0, ""),
    PNG("89504e470d0a1a0a", 0, ""),
    GIF(hex("GIF8"), 0, ""),
    BMP(hex("BM"), 0, ""),
    TIFF_LITTLE_ENDIAN("49492a00", 0, ""),
    TIFF_BIG_ENDIAN("4d4d002a", 0, ""),
    WEBP(hex("RIFF"), 8, hex("WEBP"));

    /** What to name where a folder has no image. */
    public static final String SUFFIXES = ".jpg, .jpeg, .png, .gif, .bmp, .tif, .tiff, .webp";

    private static final ImageFormat[] ALL = values();
    private static final int HEAD_BYTES = 12;
    private static final BulkIo IO = BulkIo.system();
    private static final ThreadLocal<ByteBuffer> HEAD =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(HEAD_BYTES));
    private static final Set<String> KNOWN = Set.of("jpg", "jpeg", "png", "gif", "bmp", "tif", "tiff", "webp");

    // a char for each byte
    private final String beginning;
    private final int nextOffset;
    private final String next;

    /** Takes hexadecimal digits. */
    ImageFormat(String beginning, int nextOffset, String next) {
        this.beginning = bytes(beginning);
        this.nextOffset = nextOffset;
        this.next = bytes(next);
    }

    private static String bytes(String hex) {
        return new String(HexFormat.of().parseHex(hex), StandardCharsets.ISO_8859_1);
    }

    private static String hex(String text) {
        return HexFormat.of().formatHex(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Tells whether a file's name says that it is an image. */
    public static boolean isNamedSo(String name) {
        int dot = name.lastIndexOf('.');
        return dot >= 0 && KNOWN.contains(name.substring(dot + 1).toLowerCase(Locale.ROOT));
    }

    /** Tells whether a file that begins with these bytes is an image. */
    public static boolean isBeginning(ByteBuffer first) {
        for (ImageFormat format : ALL) {
            if (has(first, 0, format.beginning) && has(first, format.nextOffset, format.next)) {
                return true;
            }
        }
        return false;
    }

    private static boolean has(ByteBuffer bytes, int offset, String wanted) {
        if (bytes.remaining() < offset + wanted.length()) {
            return false;
        }
        for (int i = 0; i < wanted.length(); i++) {
            if ((bytes.get(bytes.position() + offset + i) & 0xff) != wanted.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** Fails with a refusal where a file does not begin as an image of any kind does; what follows is not looked at. */
    public static void require(Path file) {
        byte[] head = head(file);
        if (head.length == 0) {
            throw Refusal.of(file, 0, "it is empty");
        }
        if (!isBeginning(ByteBuffer.wrap(head))) {
            throw Refusal.unfit(
                    file,
                    "it is no image: it begins with "
                            + HexFormat.ofDelimiter(" ").formatHex(head),
                    "replace the file, or leave it out with --exclude");
        }
    }

    /** Reads as few calls as it takes: of a hundred thousand files each costs. The JDK knows better why one cannot be read. */
    private static byte[] head(Path file) {
        ByteBuffer direct = HEAD.get();
        try {
            int descriptor = IO.openWithoutWaiting(file);
            try {
                byte[] head = new byte[(int) IO.read(descriptor, 0, direct, 0, HEAD_BYTES)];
                direct.get(0, head);
                return head;
            } finally {
                Posix.system().close(descriptor);
            }
        } catch (LarderException e) {
            try (InputStream in = Files.newInputStream(file)) {
                return in.readNBytes(HEAD_BYTES);
            } catch (IOException reason) {
                throw Refusal.unreadable(file, 0, reason);
            }
        }
    }
}
