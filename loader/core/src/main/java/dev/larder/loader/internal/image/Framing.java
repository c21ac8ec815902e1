package dev.larder.loader.internal.image;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.transform.Resampling;
import dev.larder.loader.transform.SampleRandom;
import dev.larder.loader.transform.Step;
import java.util.List;

/** The steps that give decoded images of different sizes the same size. */
final class Framing {
    private static final int TRIES = 10;

    private final Step step;
    private final int height;
    private final int width;
    private final Resampling filter;
    private final int stepCount;

    private Framing(Step step, int height, int width, Resampling filter, int stepCount) {
        this.step = step;
        this.height = height;
        this.width = width;
        this.filter = filter;
        this.stepCount = stepCount;
    }

    /**
     * Returns the framing from the first steps after decoding; fails with {@code BAD_INPUT} if they do not set a size.
     */
    static Framing of(List<Step> steps) {
        Step first = steps.isEmpty() ? null : steps.get(0);
        if (first instanceof Step.Resize resize) {
            return new Framing(first, resize.height(), resize.width(), resize.filter(), 1);
        }
        if (first instanceof Step.ResizeShorter shorter
                && steps.size() > 1
                && steps.get(1) instanceof Step.CenterCrop crop
                && Math.max(crop.height(), crop.width()) <= shorter.side()) {
            return new Framing(first, crop.height(), crop.width(), shorter.filter(), 2);
        }
        if (first instanceof Step.RandomResizedCrop crop) {
            return new Framing(first, crop.height(), crop.width(), crop.filter(), 1);
        }
        if (first instanceof Step.CenterCrop crop) {
            return new Framing(first, crop.height(), crop.width(), Resampling.BOX, 1);
        }
        throw Failure.of(ErrorCode.BAD_INPUT, "decoded images have no common size")
                .with("steps", steps)
                .remedy(
                        "after decode put resize(h, w), resizeShorter(n) with centerCrop of at most n, randomResizedCrop(h, w) or"
                                + " centerCrop(h, w)");
    }

    int height() {
        return height;
    }

    int width() {
        return width;
    }

    Resampling filter() {
        return filter;
    }

    /** Returns the number of steps that it covers. */
    int stepCount() {
        return stepCount;
    }

    /** Sets the frame for one image. */
    void frame(int imageHeight, int imageWidth, SampleRandom random, Frame frame) {
        if (step instanceof Step.RandomResizedCrop crop) {
            drawPart(imageHeight, imageWidth, crop, random, frame);
        } else if (step instanceof Step.CenterCrop) {
            requireLargeEnough(imageHeight, imageWidth);
            int top = (imageHeight - height) / 2;
            int left = (imageWidth - width) / 2;
            frame.set(left, top, left + width, top + height, width, height);
        } else if (step instanceof Step.ResizeShorter shorter) {
            int shortest = Math.min(imageHeight, imageWidth);
            int fullHeight = (int) ((long) shorter.side() * imageHeight / shortest);
            int fullWidth = (int) ((long) shorter.side() * imageWidth / shortest);
            frame.set(0, 0, imageWidth, imageHeight, fullWidth, fullHeight);
            frame.x = (fullWidth - width) / 2;
            frame.y = (fullHeight - height) / 2;
        } else {
            frame.set(0, 0, imageWidth, imageHeight, width, height);
        }
    }

    private void requireLargeEnough(int imageHeight, int imageWidth) {
        if (imageHeight < height || imageWidth < width) {
            throw Failure.of(ErrorCode.BAD_INPUT, "image is smaller than the window")
                    .with("height", imageHeight)
                    .with("width", imageWidth)
                    .with("step", step)
                    .remedy("use resizeShorter(n) before centerCrop(h, w)");
        }
    }

    /** Chooses a box as torchvision does: up to ten times a random area and aspect ratio, until both fit; else the centre. */
    private static void drawPart(
            int imageHeight, int imageWidth, Step.RandomResizedCrop crop, SampleRandom random, Frame frame) {
        double area = (double) imageHeight * imageWidth;
        double leastLog = StrictMath.log(crop.minRatio());
        double mostLog = StrictMath.log(crop.maxRatio());
        for (int i = 0; i < TRIES; i++) {
            double part = area * (crop.minArea() + random.nextDouble() * ((double) crop.maxArea() - crop.minArea()));
            double ratio = StrictMath.exp(leastLog + random.nextDouble() * (mostLog - leastLog));
            int partWidth = (int) Math.rint(Math.sqrt(part * ratio));
            int partHeight = (int) Math.rint(Math.sqrt(part / ratio));
            if (partWidth > 0 && partWidth <= imageWidth && partHeight > 0 && partHeight <= imageHeight) {
                int top = random.nextInt(imageHeight - partHeight + 1);
                int left = random.nextInt(imageWidth - partWidth + 1);
                frame.set(left, top, left + partWidth, top + partHeight, crop.width(), crop.height());
                return;
            }
        }
        double ratio = (double) imageWidth / imageHeight;
        int partWidth = imageWidth;
        int partHeight = imageHeight;
        if (ratio < crop.minRatio()) {
            partHeight = (int) Math.rint(imageWidth / (double) crop.minRatio());
        } else if (ratio > crop.maxRatio()) {
            partWidth = (int) Math.rint(imageHeight * (double) crop.maxRatio());
        }
        partWidth = Math.max(1, partWidth);
        partHeight = Math.max(1, Math.min(imageHeight, partHeight));
        int top = (imageHeight - partHeight) / 2;
        int left = (imageWidth - partWidth) / 2;
        frame.set(left, top, left + partWidth, top + partHeight, crop.width(), crop.height());
    }
}
