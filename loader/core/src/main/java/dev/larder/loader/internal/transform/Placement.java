package dev.larder.loader.internal.transform;

/**
 * The positions in a stored picture of the pixels of one sample: the combination of its crops and flips.
 *
 * <p>Row {@code y} comes from stored row {@code y + top}, for rows {@code firstRow} to below {@code endRow}; column {@code x} from
 * stored column {@code left + x}, or {@code left - x} if {@code mirrored}, for {@code firstColumn} to below {@code endColumn}.
 * All other pixels are border.
 */
final class Placement {
    int height;
    int width;
    int top;
    int firstRow;
    int endRow;
    int left;
    int firstColumn;
    int endColumn;
    boolean mirrored;

    /** Starts with the stored picture. */
    void begin(int storedHeight, int storedWidth) {
        height = storedHeight;
        width = storedWidth;
        top = 0;
        firstRow = 0;
        endRow = storedHeight;
        left = 0;
        firstColumn = 0;
        endColumn = storedWidth;
        mirrored = false;
    }

    /** Crops a window. Its corner may be in the border, that is, negative. */
    void crop(int newHeight, int newWidth, int y, int x) {
        top += y;
        firstRow = clamp(firstRow - y, newHeight);
        endRow = Math.max(firstRow, clamp(endRow - y, newHeight));
        left += mirrored ? -x : x;
        firstColumn = clamp(firstColumn - x, newWidth);
        endColumn = Math.max(firstColumn, clamp(endColumn - x, newWidth));
        height = newHeight;
        width = newWidth;
    }

    /** Mirrors left and right. */
    void flip() {
        left += mirrored ? 1 - width : width - 1;
        mirrored = !mirrored;
        int first = firstColumn;
        firstColumn = width - endColumn;
        endColumn = width - first;
    }

    /** Returns whether there is a border. */
    boolean hasBorder() {
        return firstRow > 0 || endRow < height || firstColumn > 0 || endColumn < width;
    }

    /** Returns whether all pixels are border. */
    boolean isEmpty() {
        return firstRow == endRow || firstColumn == endColumn;
    }

    private static int clamp(int value, int length) {
        return Math.max(0, Math.min(value, length));
    }
}
