package dev.larder.loader.internal.transform;

/**
 * Where in a stored picture the pixels of one sample come from: what its crops and flips amount to.
 *
 * <p>Row {@code y} comes from stored row {@code y + top}, for rows {@code firstRow} to below {@code endRow}; column {@code x} from
 * stored column {@code left + x}, or {@code left - x} where {@code mirrored}, for {@code firstColumn} to below {@code endColumn}.
 * All others are border.
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

    /** Begins with the stored picture. */
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

    /** Cuts out a window whose corner may lie in the border, that is, be negative. */
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

    /** Returns whether there is border. */
    boolean hasBorder() {
        return firstRow > 0 || endRow < height || firstColumn > 0 || endColumn < width;
    }

    /** Returns whether all is border. */
    boolean isEmpty() {
        return firstRow == endRow || firstColumn == endColumn;
    }

    private static int clamp(int value, int length) {
        return Math.max(0, Math.min(value, length));
    }
}
