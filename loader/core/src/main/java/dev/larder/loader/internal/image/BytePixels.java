package dev.larder.loader.internal.image;

/** Pixels in a heap array, height × width × channels. */
final class BytePixels extends Pixels {
    private byte[] bytes = {};
    private int first;

    /** Sets an image of 1 or 3 channels. */
    void begin(byte[] newBytes, int newFirst, int newHeight, int newWidth, int newChannels) {
        bytes = newBytes;
        first = newFirst;
        height = newHeight;
        width = newWidth;
        channels = newChannels;
    }

    @Override
    void row(int y, int x, int count, int[] target) {
        int at = first + (y * width + x) * channels;
        if (channels == 1) {
            for (int i = 0; i < count; i++) {
                target[i] = bytes[at + i] & 0xff;
            }
            return;
        }
        for (int i = 0; i < count; i++, at += 3) {
            target[i] = (bytes[at] & 0xff) | ((bytes[at + 1] & 0xff) << 8) | ((bytes[at + 2] & 0xff) << 16);
        }
    }
}
