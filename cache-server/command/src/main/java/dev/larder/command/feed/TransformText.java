package dev.larder.command.feed;

import dev.larder.command.feed.StepTable.Written;
import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.DecodeSize;
import dev.larder.loader.transform.JpegDecoder;
import dev.larder.loader.transform.Resampling;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;

/** The steps that transform rows on a command line: the names of {@link Transform} with the same arguments. */
final class TransformText {
    static final StepTable<Transform> STEPS = new StepTable<Transform>()
            .add("toFloat", (begun, step) -> begun.toFloat())
            .add("cast", (begun, step) -> begun.cast(step.text(0)), "dtype")
            .add("scale", (begun, step) -> begun.scale(step.real(0), step.real(1)), "factor", "offset")
            .add("normalize", TransformText::normalize, "mean", "deviation")
            .add("toBfloat16", (begun, step) -> begun.toBfloat16())
            .add("fromBfloat16", (begun, step) -> begun.fromBfloat16())
            .add("randomCrop", TransformText::randomCrop, "height", "width", "padding")
            .add("centerCrop", (begun, step) -> begun.centerCrop(step.whole(0), step.whole(1)), "height", "width")
            .add("randomFlip", (begun, step) -> begun.randomFlip(step.real(0)), "probability=0.5")
            .add("flip", (begun, step) -> begun.flip())
            .add("channelsFirst", (begun, step) -> begun.channelsFirst())
            .add("oneHot", (begun, step) -> begun.oneHot(step.whole(0)), "classes")
            .add("decode", TransformText::decode, "colours=rgb", "size=full", "maxPixels=" + Step.Decode.MAX_PIXELS)
            .add("resize", TransformText::resize, "height", "width", "filter=bilinear")
            .add("resizeShorter", TransformText::resizeShorter, "side", "filter=bilinear")
            .add("randomResizedCrop", TransformText::part, "height", "width", "minArea=0.08", "maxArea=1")
            .add("colourJitter", TransformText::jitter, "brightness", "contrast", "saturation", "hue");

    private TransformText() {}

    private static Transform normalize(Transform begun, Written step) {
        return step.text(0).startsWith("[")
                ? begun.normalize(step.reals(0), step.reals(1))
                : begun.normalize(step.real(0), step.real(1));
    }

    private static Transform randomCrop(Transform begun, Written step) {
        return begun.randomCrop(step.whole(0), step.whole(1), step.whole(2));
    }

    private static Transform decode(Transform begun, Written step) {
        return begun.decode(new Step.Decode(
                step.oneOf(0, Colours.values()), step.oneOf(1, DecodeSize.values()), step.whole(2), JpegDecoder.AUTO));
    }

    private static Transform resize(Transform begun, Written step) {
        return begun.resize(step.whole(0), step.whole(1), step.oneOf(2, Resampling.values()));
    }

    private static Transform resizeShorter(Transform begun, Written step) {
        return begun.resizeShorter(step.whole(0), step.oneOf(1, Resampling.values()));
    }

    private static Transform part(Transform begun, Written step) {
        return begun.randomResizedCrop(step.whole(0), step.whole(1), step.real(2), step.real(3));
    }

    private static Transform jitter(Transform begun, Written step) {
        return begun.colourJitter(step.real(0), step.real(1), step.real(2), step.real(3));
    }

    /** Parses the steps for an array; fails with USAGE, which names the wrong step and argument. */
    static Transform parse(String array, String text) {
        Transform transform = new Transform();
        for (String step : StepTable.split(array, text)) {
            transform = STEPS.apply(transform, array, step);
        }
        return transform;
    }
}
