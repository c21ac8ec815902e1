package dev.larder.loader.internal.transform;

/**
 * The channel of each element of a sample: element {@code i} is of channel {@code i / stride % count}.
 *
 * @param stride the number of consecutive elements of one channel: 1 if channels are last, height × width if they are first
 */
record Channels(int count, int stride) {
    static final Channels ONE = new Channels(1, 1);

    /** Returns the channel of an element. */
    int of(int element) {
        return element / stride % count;
    }

    /** Changes {@code x} to {@code (x - mean) * inverse} in part of a sample, from its element {@code first} on. */
    void normalize(float[] values, int length, int first, float[] means, float[] inverses) {
        if (means.length == 1) {
            normalize(values, 0, length, means[0], inverses[0]);
        } else if (stride == 1) {
            interleaved(values, length, first % count, means, inverses);
        } else {
            int done = 0;
            while (done < length) {
                int run = Math.min(length - done, stride - (first + done) % stride);
                int channel = of(first + done);
                normalize(values, done, done + run, means[channel], inverses[channel]);
                done += run;
            }
        }
    }

    private static void normalize(float[] values, int from, int to, float mean, float inverse) {
        for (int i = from; i < to; i++) {
            values[i] = (values[i] - mean) * inverse;
        }
    }

    private void interleaved(float[] values, int length, int firstChannel, float[] means, float[] inverses) {
        int channel = firstChannel;
        int done = 0;
        while (done < length) {
            int run = Math.min(length - done, count - channel);
            for (int i = 0; i < run; i++) {
                values[done + i] = (values[done + i] - means[channel + i]) * inverses[channel + i];
            }
            done += run;
            channel = 0;
        }
    }
}
