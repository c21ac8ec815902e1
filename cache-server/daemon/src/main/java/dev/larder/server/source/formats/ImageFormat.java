package dev.larder.server.source.formats;

import dev.larder.server.source.Refusal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
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

    /** The suffixes of image files, for people. */
    public static final String SUFFIXES = ".jpg, .jpeg, .png, .gif, .bmp, .tif, .tiff, .webp";

    private static final ImageFormat[] ALL = values();
    private static final int HEAD_BYTES = 12;
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

    /** Returns whether a file has a name of an image. */
    public static boolean isNamedSo(String name) {
        int dot = name.lastIndexOf('.');
        return dot >= 0 && KNOWN.contains(name.substring(dot + 1).toLowerCase(Locale.ROOT));
    }

    /** Returns whether a file with this beginning is an image. */
    public static boolean isBeginning(ByteBuffer first) {
        return of(first).isPresent();
    }

    /** Returns the kind of a file with this beginning; empty if it is no image. */
    public static Optional<ImageFormat> of(ByteBuffer first) {
        for (ImageFormat format : ALL) {
            if (has(first, 0, format.beginning) && has(first, format.nextOffset, format.next)) {
                return Optional.of(format);
            }
        }
        return Optional.empty();
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

    /** Refuses a file unless it begins like an image of any kind. */
    public static void require(Path file) {
        byte[] head = SourceProbe.beginning(file, HEAD_BYTES);
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
}
