package dev.larder.loader.internal.image;

import dev.larder.loader.transform.SampleRandom;
import dev.larder.loader.transform.Step;

/**
 * Changes the colours of RGB bytes as torchvision's ColorJitter does with Pillow's images, in random order. Not thread-safe.
 */
public final class Jitter {
    private static final int KINDS = 4;
    private static final int PIXEL = 3;

    private final int[] order = new int[KINDS];

    /** Changes an image in place. */
    public void run(Step.ColourJitter step, byte[] image, int at, int pixels, SampleRandom random) {
        for (int i = 0; i < KINDS; i++) {
            order[i] = i;
        }
        for (int i = KINDS - 1; i > 0; i--) {
            int other = random.nextInt(i + 1);
            int kind = order[i];
            order[i] = order[other];
            order[other] = kind;
        }
        float brightness = factor(step.brightness(), random); // always draws all, independent of order and bounds
        float contrast = factor(step.contrast(), random);
        float saturation = factor(step.saturation(), random);
        float hue = (random.nextFloat() * 2 - 1) * step.hue();
        int end = at + pixels * PIXEL;
        for (int kind : order) {
            if (kind == 0 && step.brightness() > 0) {
                blendWith(0, image, at, end, brightness);
            } else if (kind == 1 && step.contrast() > 0) {
                blendWith(meanGrey(image, at, end), image, at, end, contrast);
            } else if (kind == 2 && step.saturation() > 0) {
                saturate(image, at, end, saturation);
            } else if (kind == 3 && step.hue() > 0) {
                turn(image, at, end, (int) (hue * 255));
            }
        }
    }

    private static float factor(float bound, SampleRandom random) {
        float least = Math.max(0, 1 - bound);
        return least + random.nextFloat() * (1 + bound - least);
    }

    /** Blends with one grey: black for brightness, the mean for contrast. */
    private static void blendWith(int grey, byte[] image, int at, int end, float factor) {
        for (int i = at; i < end; i++) {
            image[i] = blend(grey, image[i] & 0xff, factor);
        }
    }

    private static void saturate(byte[] image, int at, int end, float factor) {
        for (int i = at; i < end; i += PIXEL) {
            int grey = grey(image, i);
            for (int channel = i; channel < i + PIXEL; channel++) {
                image[channel] = blend(grey, image[channel] & 0xff, factor);
            }
        }
    }

    private static byte blend(int from, int to, float factor) {
        float mixed = from + factor * (to - from);
        return (byte) (mixed <= 0 ? 0 : mixed >= 255 ? 255 : (int) mixed);
    }

    private static int grey(byte[] image, int at) {
        return DecodedPixels.luma((image[at] & 0xff) | ((image[at + 1] & 0xff) << 8) | ((image[at + 2] & 0xff) << 16));
    }

    private static int meanGrey(byte[] image, int at, int end) {
        long sum = 0;
        for (int i = at; i < end; i += PIXEL) {
            sum += grey(image, i);
        }
        int pixels = (end - at) / PIXEL;
        return (int) ((double) sum / pixels + 0.5);
    }

    /** Shifts the hue by 256ths of the circle, with hue, saturation and value as bytes. */
    private static void turn(byte[] image, int at, int end, int shift) {
        for (int i = at; i < end; i += PIXEL) {
            int red = image[i] & 0xff;
            int green = image[i + 1] & 0xff;
            int blue = image[i + 2] & 0xff;
            int most = Math.max(red, Math.max(green, blue));
            int least = Math.min(red, Math.min(green, blue));
            if (most == least) {
                continue;
            }
            int hue = (hue(red, green, blue, most, least) + shift) & 0xff;
            int saturation = (int) ((float) (most - least) / most * 255);
            write(hue, saturation, most, image, i);
        }
    }

    private static int hue(int red, int green, int blue, int most, int least) {
        float range = most - least;
        float fromRed = (most - red) / range;
        float fromGreen = (most - green) / range;
        float fromBlue = (most - blue) / range;
        float sixths = red == most
                ? fromBlue - fromGreen
                : green == most ? (float) (2.0 + fromRed - fromBlue) : (float) (4.0 + fromGreen - fromRed);
        float share = (float) ((sixths / 6.0 + 1.0) % 1.0);
        return Math.max(0, Math.min(255, (int) (share * 255.0)));
    }

    private static void write(int hue, int saturation, int value, byte[] image, int at) {
        float sixths = (float) (hue * 6.0 / 255.0);
        float share = (float) (saturation / 255.0);
        int sector = (int) sixths;
        float rest = sixths - sector;
        int low = rounded(value * (1.0 - share));
        int falling = rounded(value * (1.0 - share * rest));
        int rising = rounded(value * (1.0 - share * (1.0 - rest)));
        switch (sector % 6) {
            case 0 -> put(image, at, value, rising, low);
            case 1 -> put(image, at, falling, value, low);
            case 2 -> put(image, at, low, value, rising);
            case 3 -> put(image, at, low, falling, value);
            case 4 -> put(image, at, rising, low, value);
            default -> put(image, at, value, low, falling);
        }
    }

    private static int rounded(double value) {
        return Math.max(0, Math.min(255, (int) (value + 0.5)));
    }

    private static void put(byte[] image, int at, int red, int green, int blue) {
        image[at] = (byte) red;
        image[at + 1] = (byte) green;
        image[at + 2] = (byte) blue;
    }
}
