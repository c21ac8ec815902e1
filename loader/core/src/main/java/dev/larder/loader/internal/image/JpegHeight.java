package dev.larder.loader.internal.image;

/**
 * The height in the header of a JPEG. The decoder has no option for a crop: it decodes all rows, also those below it. If the header has a
 * smaller height, it stops earlier, and the pixels of these rows are the same.
 */
final class JpegHeight {
    private static final int BLOCK_ROWS = 8;
    private static final int BASELINE = 0xc0;
    private static final int SEQUENTIAL = 0xc1;
    private static final int HUFFMAN_TABLES = 0xc4;
    private static final int SCAN = 0xda;
    private static final int QUANTIZATION_TABLES = 0xdb;

    /** The first marker of data of programs and comments. */
    private static final int FIRST_APPLICATION = 0xe0;

    private JpegHeight() {}

    /**
     * Sets the height in the copy of an image to the least that {@code wanted} rows need; returns the height. It remains the same if
     * the pixels are not in one scan from top to bottom, or if markers divide them.
     *
     * @param height the image's own height
     * @param context the rows below a row that have an effect on it
     */
    static int limit(EncodedImage image, int height, int wanted, int context) {
        int frame = frame(image);
        if (frame < 0) {
            return height;
        }
        int blocks = 1;
        for (int i = 0; i < image.at(frame + 9); i++) {
            blocks = Math.max(blocks, image.at(frame + 11 + 3 * i) & 15);
        }
        int unit = blocks * BLOCK_ROWS;
        long least = ((long) wanted + context + unit - 1) / unit * unit;
        if (least >= height) {
            return height;
        }
        image.put(frame + 5, (int) least >> 8);
        image.put(frame + 6, (int) least);
        return (int) least;
    }

    /** Returns the place of the frame's segment, or -1 if the height cannot be changed. */
    private static int frame(EncodedImage image) {
        int frame = -1;
        int at = 2;
        while (at + 4 < image.length() && image.at(at) == 0xff) {
            int marker = image.at(at + 1);
            int end = at + 2 + ((image.at(at + 2) << 8) | image.at(at + 3));
            if (marker == 0xff) { // a marker may begin with any number of these bytes
                end = at + 1;
            } else if (end > image.length()) {
                return -1;
            } else if (marker == SCAN) {
                return frame >= 0 && image.at(at + 4) == image.at(frame + 9) ? frame : -1;
            } else if (marker == BASELINE || marker == SEQUENTIAL) {
                boolean isWhole = end - at >= 10 && end - at >= 10 + 3 * image.at(at + 9);
                if (frame >= 0 || !isWhole) {
                    return -1;
                }
                frame = at;
            } else if (!isWithoutEffect(marker)) {
                return -1;
            }
            at = end;
        }
        return -1;
    }

    private static boolean isWithoutEffect(int marker) {
        return marker == HUFFMAN_TABLES || marker == QUANTIZATION_TABLES || marker >= FIRST_APPLICATION;
    }
}
