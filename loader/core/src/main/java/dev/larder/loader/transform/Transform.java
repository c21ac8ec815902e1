package dev.larder.loader.transform;

import dev.larder.npy.Dtype;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The steps for each sample of an array, in the order of their execution.
 *
 * <pre>{@code
 * new Transform().toFloat().normalize(0.286f, 0.353f)
 * new Transform().randomCrop(32, 32, 4).randomFlip(0.5f).toFloat().normalize(means, deviations).channelsFirst()
 * new Transform().oneHot(10)
 * }</pre>
 *
 * <p>Rows of different lengths, such as texts, files and encoded images, need a step that converts them to rows of one
 * shape: {@code mapRow} or {@link #decode}. Before {@link #channelsFirst}, a sample of three dimensions is height × width ×
 * channels, and a sample of two dimensions is height × width with one channel. A vector has one channel per element; all
 * other samples have one channel. Immutable; every method returns a new transform.
 */
public record Transform(List<Step> steps) {
    /** Creates a transform with these steps. */
    public Transform {
        steps = List.copyOf(steps);
    }

    /** Creates a transform without steps, which leaves samples unchanged. */
    public Transform() {
        this(List.of());
    }

    /** Adds {@link Step.ToFloat}: maps bytes 0 to 255 to 0 to 1, floats to float32. Other integers need {@link #cast} or {@link #scale}. */
    public Transform toFloat() {
        return with(new Step.ToFloat());
    }

    /**
     * Adds {@link Step.Cast}: converts like numpy's {@code astype}, to and from truth values, integers of 1 to 8 bytes and floats of
     * 2, 4 and 8, in either byte order.
     *
     * <p>Integers keep their lower bits. Conversion to float rounds to the nearest, ties to even. Every value except 0 is true.
     * Conversion from float to integer drops the fraction, clamps to the range of the type and maps NaN to 0; numpy's result
     * for values out of range depends on the machine.
     */
    public Transform cast(Dtype dtype) {
        return with(new Step.Cast(dtype));
    }

    /** Adds {@link Step.Cast} to a type in numpy's notation, such as {@code <f2}. */
    public Transform cast(String descr) {
        return cast(Dtype.parse(descr));
    }

    /** Adds {@link Step.Scale}: {@code x * factor + offset} in float32, for numbers of any type. */
    public Transform scale(float factor, float offset) {
        return with(new Step.Scale(factor, offset));
    }

    /** Adds {@link Step.Normalize} with the same mean and standard deviation for all elements, which must be floats. */
    public Transform normalize(float mean, float deviation) {
        return with(new Step.Normalize(List.of(mean), List.of(deviation)));
    }

    /** Adds {@link Step.Normalize} with a mean and a standard deviation for each channel; elements must be floats. */
    public Transform normalize(float[] means, float[] deviations) {
        return with(new Step.Normalize(boxed(means), boxed(deviations)));
    }

    /**
     * Adds {@link Step.ToBfloat16}: rounds floats to bfloat16, ties to even; NaN stays NaN. numpy has no bfloat16, so
     * the result is {@code <u2} with the same bits. Doubles are rounded to float first.
     */
    public Transform toBfloat16() {
        return with(new Step.ToBfloat16());
    }

    /** Adds {@link Step.FromBfloat16}: converts {@code u2} with the bits of bfloat16 numbers to float32. */
    public Transform fromBfloat16() {
        return with(new Step.FromBfloat16());
    }

    /** Adds {@link Step.RandomCrop}: every position of the window in the padded sample is equally likely. */
    public Transform randomCrop(int height, int width, int padding) {
        return with(new Step.RandomCrop(height, width, padding));
    }

    /** Adds {@link Step.CenterCrop}. */
    public Transform centerCrop(int height, int width) {
        return with(new Step.CenterCrop(height, width));
    }

    /** Adds {@link Step.RandomFlip}: mirrors left and right with this probability. */
    public Transform randomFlip(float probability) {
        return with(new Step.RandomFlip(probability));
    }

    /** Adds {@link Step.Flip}: mirrors left and right. */
    public Transform flip() {
        return with(new Step.Flip());
    }

    /** Adds {@link Step.ChannelsFirst}: height × width × channels becomes channels × height × width; two dimensions get a channel. */
    public Transform channelsFirst() {
        return with(new Step.ChannelsFirst());
    }

    /** Adds {@link Step.OneHot}: an additional dimension with one element per class. Elements must be integers, counted from 0. */
    public Transform oneHot(int classes) {
        return with(new Step.OneHot(classes));
    }

    /** Adds {@link Step.MapFloats}: the user's code on values, which must already be float32. */
    public Transform map(SampleFunction function) {
        return with(new Step.MapFloats(function));
    }

    /** Adds {@link Step.MapBytes}: the user's code from bytes to the bytes of a sample of this type and shape. */
    public Transform map(Dtype dtype, long[] shape, BytesFunction function) {
        return with(new Step.MapBytes(dtype, Arrays.stream(shape).boxed().toList(), function));
    }

    /**
     * Adds {@link Step.MapRow}: the user's code from any number of bytes of a row to a row of this type and shape. As the
     * first step it reads the store without a copy; as the last step it writes directly to the batch. It must return the
     * same result for the same bytes.
     */
    public Transform mapRow(Dtype dtype, long[] shape, RowFunction function) {
        return mapRow(dtype, shape, false, false, (row, result, random) -> {
            function.apply(row, result);
            return 0;
        });
    }

    /** Adds {@link Step.MapRow} with a function that draws random numbers. */
    public Transform mapRow(Dtype dtype, long[] shape, RowFunction.Random function) {
        return mapRow(dtype, shape, false, true, (row, result, random) -> {
            function.apply(row, result, random);
            return 0;
        });
    }

    /**
     * Adds {@link Step.MapRow} whose rows differ in their first dimension: the function returns the number of items, up to
     * the first dimension of {@code most}. Batches contain the rows packed, or padded if the field is padded. A transform
     * can have one such step; all steps after it must be elementwise.
     */
    public Transform mapRagged(Dtype dtype, long[] most, RaggedFunction function) {
        return mapRow(dtype, most, true, false, (row, result, random) -> function.apply(row, result));
    }

    /**
     * Adds {@link Step.MapRow} whose rows differ in their first dimension, with a function that draws random numbers.
     */
    public Transform mapRagged(Dtype dtype, long[] most, RaggedFunction.Random function) {
        return mapRow(dtype, most, true, true, function);
    }

    private Transform mapRow(
            Dtype dtype, long[] shape, boolean ragged, boolean random, RaggedFunction.Random function) {
        List<Long> sizes = Arrays.stream(shape).boxed().toList();
        return with(new Step.MapRow(dtype, sizes, ragged, random, function));
    }

    /**
     * Adds {@link Step.Decode}: decodes an image to {@code |u1}, height × width × channels (three, or one for grey).
     * Ignores EXIF rotation. The next step must give all images one size: {@link
     * #resize(int, int)}, {@link #resizeShorter} with {@link #centerCrop}, {@link #randomResizedCrop(int, int)} or
     * {@link #centerCrop}.
     */
    public Transform decode(Colours colours) {
        return decode(colours, Step.Decode.MAX_PIXELS);
    }

    /** Adds {@link Step.Decode} at this size; the default is {@link DecodeSize#FULL}. */
    public Transform decode(Colours colours, DecodeSize size) {
        return decode(new Step.Decode(colours, size, Step.Decode.MAX_PIXELS, JpegDecoder.AUTO));
    }

    /** Adds {@link Step.Decode} that fails for images of more pixels, before it allocates memory for them. */
    public Transform decode(Colours colours, long maxPixels) {
        return decode(colours, maxPixels, JpegDecoder.AUTO);
    }

    /** Adds {@link Step.Decode} with a limit and a decoder. */
    public Transform decode(Colours colours, long maxPixels, JpegDecoder jpegDecoder) {
        return decode(new Step.Decode(colours, DecodeSize.FULL, maxPixels, jpegDecoder));
    }

    /** Adds a {@link Step.Decode} with its size, limit and decoder. */
    public Transform decode(Step.Decode decode) {
        return with(decode);
    }

    /** Adds {@link Step.Resize} with {@link Resampling#BILINEAR}. */
    public Transform resize(int height, int width) {
        return resize(height, width, Resampling.BILINEAR);
    }

    /** Adds {@link Step.Resize}, for bytes of images of one size or for decoded images of any size. */
    public Transform resize(int height, int width, Resampling filter) {
        return with(new Step.Resize(height, width, filter));
    }

    /** Adds {@link Step.ResizeShorter} with {@link Resampling#BILINEAR}; {@link #centerCrop} must follow. */
    public Transform resizeShorter(int side) {
        return resizeShorter(side, Resampling.BILINEAR);
    }

    /** Adds {@link Step.ResizeShorter}, directly after {@link #decode(Colours)}; {@link #centerCrop} must follow. */
    public Transform resizeShorter(int side, Resampling filter) {
        return with(new Step.ResizeShorter(side, filter));
    }

    /**
     * Adds {@link Step.RandomResizedCrop} with the defaults of torchvision: 8 to 100 % of the area, 3:4 to 4:3, {@link
     * Resampling#BILINEAR}. It must follow {@link #decode(Colours)}. For images stored as pixels, use {@link #resize(int,
     * int)}, {@link #randomCrop} and {@link #centerCrop}.
     */
    public Transform randomResizedCrop(int height, int width) {
        return randomResizedCrop(height, width, 0.08f, 1);
    }

    /**
     * Adds {@link Step.RandomResizedCrop} with these bounds of the area, proportions of 3:4 to 4:3 and {@link
     * Resampling#BILINEAR}.
     */
    public Transform randomResizedCrop(int height, int width, float minArea, float maxArea) {
        return randomResizedCrop(
                new Step.RandomResizedCrop(height, width, minArea, maxArea, 3 / 4f, 4 / 3f, Resampling.BILINEAR));
    }

    /** Adds a {@link Step.RandomResizedCrop} with its proportions and filter. */
    public Transform randomResizedCrop(Step.RandomResizedCrop crop) {
        return with(crop);
    }

    /**
     * Adds {@link Step.ColourJitter} like torchvision: factors of {@code 1 - x} to {@code 1 + x}, but not below 0; for
     * the hue, a rotation by {@code -hue} to {@code hue} of the circle. Samples must be RGB bytes, height × width × 3.
     */
    public Transform colourJitter(float brightness, float contrast, float saturation, float hue) {
        return with(new Step.ColourJitter(brightness, contrast, saturation, hue));
    }

    /** Adds the steps of another transform. */
    public Transform then(Transform next) {
        List<Step> all = new ArrayList<>(steps);
        all.addAll(next.steps);
        return new Transform(all);
    }

    private Transform with(Step step) {
        return then(new Transform(List.of(step)));
    }

    private static List<Float> boxed(float[] values) {
        return IntStream.range(0, values.length).mapToObj(i -> values[i]).toList();
    }

    @Override
    public String toString() {
        return "Transform" + steps;
    }
}
