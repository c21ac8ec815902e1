package dev.larder.loader.internal.transform;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compiles the steps of a transform to passes, and checks that each step fits its input. */
final class Compilation {
    private static final Dtype FLOAT32 = Dtype.parse("<f4");
    private static final Dtype BFLOAT16 = Dtype.parse("<u2");

    /** The number of the first draw of the user's functions; crops and flips count from 0. */
    static final int MAP_DRAWS = 1 << 20;

    /** The number of the first draw of colour changes. */
    private static final int COLOUR_DRAWS = 1 << 21;

    private final Dtype stored;
    private final long[] storedShape;
    private final List<Pass> passes = new ArrayList<>();
    private final List<Move.Drawn> draws = new ArrayList<>();
    private int parameterCount;
    private int mapCount;
    private int colourCount;
    private final int movesBefore;

    private int place;
    private @Nullable Step step;
    private Dtype dtype;
    private long[] shape;
    private boolean channelsFirst;
    private FusedSteps fused;

    Compilation(Dtype stored, long[] rowShape) {
        this(stored, rowShape, SampleTransform.Before.NOTHING);
    }

    Compilation(Dtype stored, long[] rowShape, SampleTransform.Before before) {
        this.stored = stored;
        this.movesBefore = before.moves();
        this.mapCount = before.maps();
        this.storedShape = rowShape.clone();
        this.dtype = stored;
        this.shape = storedShape;
        this.fused = new FusedSteps(stored, picture());
    }

    CompiledTransform compile(Transform transform) {
        int storedByteSize = requireByteSize();
        for (Step next : transform.steps()) {
            step = next;
            add(next);
            requireByteSize();
            place++;
        }
        if (passes.isEmpty() || !fused.isEmpty()) {
            passes.add(fused.end(dtype));
        }
        return new CompiledTransform(
                stored, storedByteSize, dtype, shape, List.copyOf(passes), List.copyOf(draws), parameterCount, null);
    }

    /** Compiles the steps from {@code first} on, for the output of the steps before. They draw as in the whole transform. */
    CompiledTransform compileRest(Transform transform, int first) {
        compile(new Transform(transform.steps().subList(0, first)));
        Compilation rest = new Compilation(dtype, shape);
        rest.channelsFirst = channelsFirst;
        rest.mapCount = mapCount;
        rest.place = first;
        rest.fused = new FusedSteps(dtype, rest.picture());
        return rest.compile(
                new Transform(transform.steps().subList(first, transform.steps().size())));
    }

    CompiledTransform compileElements(Transform transform) {
        for (Step next : transform.steps()) {
            boolean elementwise = next instanceof Step.ToFloat
                    || next instanceof Step.Cast
                    || next instanceof Step.Scale
                    || next instanceof Step.ToBfloat16
                    || next instanceof Step.FromBfloat16
                    || (next instanceof Step.Normalize normalize
                            && normalize.means().size() == 1);
            if (!elementwise) {
                step = next;
                throw unfit("this step needs rows of one shape")
                        .remedy("before padding, use only toFloat, cast, scale, bfloat16, and normalize with one mean");
            }
            place++;
        }
        place = 0;
        CompiledTransform program = compile(transform);
        ElementOperation elements = ((Pass.Picked) program.passes().get(0)).elements();
        return new CompiledTransform(
                stored, program.storedByteSize(), dtype, shape, program.passes(), List.of(), 0, elements);
    }

    private void add(Step next) {
        if (next instanceof Step.ToFloat) {
            toFloat();
        } else if (next instanceof Step.Cast cast) {
            cast(cast.dtype());
        } else if (next instanceof Step.Scale scale) {
            requireNumeric();
            convert(FLOAT32);
            fused.compute(new Arithmetic.Operation.MultiplyAdd(scale.factor(), scale.offset()));
        } else if (next instanceof Step.Normalize normalize) {
            normalize(normalize);
        } else if (next instanceof Step.ToBfloat16) {
            toBfloat16();
        } else if (next instanceof Step.FromBfloat16) {
            fromBfloat16();
        } else if (next instanceof Step.OneHot oneHot) {
            oneHot(oneHot.classes());
        } else if (next instanceof Step.MapFloats map) {
            map(map);
        } else if (next instanceof Step.MapBytes map) {
            map(map);
        } else if (next instanceof Step.MapRow map) {
            map(map);
        } else if (next instanceof Step.Resize resize) {
            resize(resize);
        } else if (next instanceof Step.ColourJitter jitter) {
            jitter(jitter);
        } else if (next instanceof Step.Decode
                || next instanceof Step.ResizeShorter
                || next instanceof Step.RandomResizedCrop) {
            throw unfit("this step takes encoded images")
                    .remedy(
                            next instanceof Step.Decode
                                    ? "put it first, over a column of files or bytes"
                                    : "put it right behind decode(…); stored pixels take resize(h, w), randomCrop(h, w, padding)"
                                            + " and centerCrop(h, w)");
        } else if (next instanceof Step.ChannelsFirst) {
            channelsFirst();
        } else {
            move(next);
        }
    }

    private void toFloat() {
        requireNumeric();
        NumberType type = NumberType.of(dtype);
        if (type == NumberType.UINT8) {
            fused.compute(new Arithmetic.Operation.DivideBytes());
            dtype = FLOAT32;
        } else if (type.isInteger()) {
            throw unfit("toFloat() has no divisor for integers of this type")
                    .remedy("use cast(\"<f4\") to keep their values, or scale(factor, offset)");
        } else {
            convert(FLOAT32);
        }
    }

    private void cast(Dtype to) {
        requireNumeric();
        if (!NumberType.isNumeric(to)) {
            throw unfit("not a numeric type").remedy("cast to ?, i1 to i8, u1 to u8, f2, f4 or f8");
        }
        convert(to);
    }

    private void convert(Dtype to) {
        NumberType from = NumberType.of(dtype);
        NumberType type = NumberType.of(to);
        if (from != type) {
            fused.compute(new Arithmetic.Operation.Convert(from, type));
        } else if (!dtype.equals(to)) {
            fused.swap();
        }
        dtype = to;
    }

    private void normalize(Step.Normalize normalize) {
        requireNumeric();
        if (!NumberType.of(dtype).isFloat()) {
            throw unfit("normalize takes floats")
                    .remedy("put toFloat(), scale(factor, offset) or cast(\"<f4\") before it");
        }
        int count = normalize.means().size();
        if (count > 1 && count != channelCount()) {
            throw unfit("the numbers of means and channels differ")
                    .with("means", count)
                    .with("channels", channelCount())
                    .remedy("give one mean and deviation for each channel, or one for all");
        }
        convert(FLOAT32);
        float[] means = new float[count];
        float[] inverses = new float[count];
        for (int i = 0; i < count; i++) {
            means[i] = normalize.means().get(i);
            inverses[i] = 1 / normalize.deviations().get(i);
        }
        fused.compute(new Arithmetic.Operation.Center(means, inverses));
    }

    private void toBfloat16() {
        requireNumeric();
        if (!NumberType.of(dtype).isFloat()) {
            throw unfit("bfloat16 takes floats")
                    .remedy("put toFloat(), scale(factor, offset) or cast(\"<f4\") before it");
        }
        convert(FLOAT32);
        fused.compute(new Arithmetic.Operation.ToBfloat16());
        dtype = BFLOAT16;
    }

    private void fromBfloat16() {
        if (!NumberType.isNumeric(dtype) || NumberType.of(dtype) != NumberType.UINT16) {
            throw unfit("fromBfloat16 takes unsigned integers of 2 bytes")
                    .remedy("give it an array of u2, or cast to floats as usual");
        }
        fused.compute(new Arithmetic.Operation.FromBfloat16());
        dtype = FLOAT32;
    }

    private void oneHot(int classes) {
        requireNumeric();
        if (NumberType.of(dtype).isFloat()) {
            throw unfit("oneHot takes integers").remedy("put cast(\"<i8\") before it");
        }
        long count = elementCount();
        shape = Arrays.copyOf(shape, shape.length + 1);
        shape[shape.length - 1] = classes;
        Encoding labels = Encoding.of(dtype);
        Dtype before = dtype;
        dtype = FLOAT32;
        requireByteSize();
        passWith(before, new Pass.OneHot(labels, (int) count, classes));
    }

    private void map(Step.MapFloats map) {
        if (!NumberType.isNumeric(dtype) || NumberType.of(dtype) != NumberType.FLOAT32) {
            throw unfit("the function takes float32 values")
                    .remedy("put toFloat() or cast(\"<f4\") before it, or map bytes: map(dtype, shape, function)");
        }
        convert(FLOAT32);
        passWith(dtype, new Pass.MapFloats(map.function(), shape, (int) elementCount(), nextMapDraw()));
    }

    private void map(Step.MapBytes map) {
        Dtype before = dtype;
        int byteSize = requireByteSize();
        dtype = map.dtype();
        shape = map.shape().stream().mapToLong(Long::longValue).toArray();
        channelsFirst = false;
        passWith(before, new Pass.MapBytes(map, before, byteSize, requireByteSize(), nextMapDraw()));
    }

    private void map(Step.MapRow map) {
        if (map.ragged()) {
            throw unfit("rows of different lengths come out of this step")
                    .remedy(
                            "there can be one such step; before it, rows have one shape, after it, steps change elements one by one");
        }
        Dtype before = dtype;
        int byteSize = requireByteSize();
        int number = nextMapDraw();
        dtype = map.dtype();
        shape = map.shape().stream().mapToLong(Long::longValue).toArray();
        channelsFirst = false;
        passWith(before, new Pass.MapRow(map, byteSize, requireByteSize(), number));
    }

    private void resize(Step.Resize step) {
        ImageShape picture = requireBytes();
        if (picture.channels() != 1 && picture.channels() != 3) {
            throw unfit("resize takes one channel or three").remedy("resize before other steps change the channels");
        }
        resize(step.height(), step.width());
        passWith(dtype, new Pass.Resize(step, picture, requireByteSize()));
    }

    private void jitter(Step.ColourJitter step) {
        ImageShape picture = requireBytes();
        if (picture.channels() != 3) {
            throw unfit("colourJitter takes red, green and blue").remedy("put it after decode(RGB)");
        }
        passWith(dtype, new Pass.ColourJitter(step, requireByteSize(), COLOUR_DRAWS + colourCount++));
    }

    /** Returns the picture at hand, which must be of bytes, with channels last. */
    private ImageShape requireBytes() {
        requirePicture();
        if (!NumberType.isNumeric(dtype) || NumberType.of(dtype) != NumberType.UINT8 || channelsFirst) {
            throw unfit("this step takes unsigned bytes, channels last")
                    .remedy("put it before toFloat() and channelsFirst()");
        }
        return picture();
    }

    private int nextMapDraw() {
        return MAP_DRAWS + mapCount++;
    }

    /** Ends the fused steps, adds the pass, and starts new fused steps on its output. */
    private void passWith(Dtype before, Pass pass) {
        if (!fused.isEmpty()) {
            passes.add(fused.end(before));
        }
        passes.add(pass);
        fused = new FusedSteps(dtype, picture());
    }

    private void channelsFirst() {
        requirePicture();
        if (channelsFirst) {
            throw unfit("channels are already first").remedy("leave it out");
        }
        channelsFirst = true;
        shape = shape.length == 2 ? new long[] {1, shape[0], shape[1]} : new long[] {shape[2], shape[0], shape[1]};
        fused.reshape(picture());
    }

    private void move(Step next) {
        requirePicture();
        ImageShape picture = picture();
        if (next instanceof Step.Flip) {
            fused.move(new Move.Flip(), picture);
        } else if (next instanceof Step.RandomFlip flip) {
            draw(new Move.RandomFlip(flip.probability(), movesBefore + draws.size(), parameterCount), 1, picture);
        } else if (next instanceof Step.CenterCrop crop) {
            int rows = requireSpace(picture.height(), crop.height(), 0);
            int columns = requireSpace(picture.width(), crop.width(), 0);
            resize(crop.height(), crop.width());
            fused.move(new Move.Crop(crop.height(), crop.width(), rows / 2, columns / 2), picture());
        } else if (next instanceof Step.RandomCrop crop) {
            randomCrop(crop, picture);
        }
    }

    private void randomCrop(Step.RandomCrop crop, ImageShape picture) {
        int rows = requireSpace(picture.height(), crop.height(), crop.padding()) + 1;
        int columns = requireSpace(picture.width(), crop.width(), crop.padding()) + 1;
        if (crop.padding() > 0 && fused.hasOtherBorder()) {
            passes.add(fused.end(dtype));
            fused = new FusedSteps(dtype, picture);
        }
        if (crop.padding() > 0) {
            fused.pad(dtype);
        }
        resize(crop.height(), crop.width());
        draw(new Move.RandomCrop(crop, rows, columns, movesBefore + draws.size(), parameterCount), 2, picture());
    }

    private void draw(Move.Drawn move, int parameters, ImageShape result) {
        fused.move(move, result);
        draws.add(move);
        parameterCount += parameters;
    }

    private void resize(int height, int width) {
        shape = shape.clone();
        shape[channelsFirst ? 1 : 0] = height;
        shape[channelsFirst ? 2 : 1] = width;
    }

    /** Returns how far a window can move along one dimension. */
    private int requireSpace(int length, int window, int padding) {
        long space = length + 2L * padding - window;
        if (space < 0) {
            throw unfit("the window is larger than the sample")
                    .remedy("crop to at most the sample's size and its padding on both sides");
        }
        return (int) space;
    }

    private void requirePicture() {
        boolean picture = shape.length == 2 || shape.length == 3;
        if (!picture || elementCount() == 0) {
            throw unfit("a picture has height × width, or height × width × channels, and a pixel")
                    .remedy("leave it out, or give the array such rows");
        }
    }

    private void requireNumeric() {
        if (!NumberType.isNumeric(dtype)) {
            throw unfit("this step cannot compute with elements of this type")
                    .remedy(
                            "use an array of ?, i1 to i8, u1 to u8, f2, f4 or f8, or map bytes: map(dtype, shape, function)");
        }
    }

    private int requireByteSize() {
        long bytes = Math.max(1, dtype.itemSize());
        for (long dimension : shape) {
            bytes = dimension > SampleTransform.MAX_SAMPLE_BYTES || bytes * dimension > SampleTransform.MAX_SAMPLE_BYTES
                    ? SampleTransform.MAX_SAMPLE_BYTES + 1
                    : bytes * dimension;
        }
        if (bytes > SampleTransform.MAX_SAMPLE_BYTES) {
            throw unfit("a sample would be larger than 1 GiB").remedy("use smaller samples");
        }
        return (int) elementCount() * dtype.itemSize();
    }

    private long elementCount() {
        long count = 1;
        for (long dimension : shape) {
            count *= dimension;
        }
        return count;
    }

    private int channelCount() {
        return shape.length == 1 ? (int) shape[0] : picture().channels();
    }

    /** Returns the shape of the current sample. A sample that is no picture is one row of pixels; a vector is one pixel. */
    private ImageShape picture() {
        int rank = shape.length;
        if (rank == 3) {
            return channelsFirst
                    ? new ImageShape((int) shape[1], (int) shape[2], (int) shape[0], true)
                    : new ImageShape((int) shape[0], (int) shape[1], (int) shape[2], false);
        }
        if (rank == 2) {
            return new ImageShape((int) shape[0], (int) shape[1], 1, false);
        }
        return rank == 1
                ? new ImageShape(1, 1, (int) shape[0], false)
                : new ImageShape(1, (int) elementCount(), 1, false);
    }

    private Failure unfit(String reason) {
        Failure failure = Failure.of(ErrorCode.BAD_INPUT, "transform does not fit the array");
        if (step != null) {
            failure.with("step", step).with("place", place + 1);
        }
        return failure.with("dtype", dtype)
                .with("shape", Arrays.toString(shape))
                .with("reason", reason);
    }
}
