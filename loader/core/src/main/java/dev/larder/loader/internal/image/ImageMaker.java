package dev.larder.loader.internal.image;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.DecodeSize;
import dev.larder.loader.transform.Resampling;
import dev.larder.loader.transform.SampleRandom;
import dev.larder.loader.transform.Step;
import java.util.List;
import org.agrona.DirectBuffer;

/** Converts encoded images to rows of one size: decodes, crops and resizes. Immutable; each thread has a {@link Room}. */
public final class ImageMaker {
    private final Step.Decode decode;
    private final Framing framing;
    private final ImageDecoders decoders;

    private ImageMaker(Step.Decode decode, Framing framing, ImageDecoders decoders) {
        this.decode = decode;
        this.framing = framing;
        this.decoders = decoders;
    }

    /** Returns the converter for the decoding step and the first steps after it. */
    public static ImageMaker of(Step.Decode decode, List<Step> next) {
        return new ImageMaker(decode, Framing.of(next), ImageDecoders.of(decode.jpegDecoder(), decode.size()));
    }

    /** Returns the number of steps after decoding that it covers. */
    public int stepCount() {
        return framing.stepCount();
    }

    public int height() {
        return framing.height();
    }

    public int width() {
        return framing.width();
    }

    public int channels() {
        return decode.colours().channels();
    }

    /** Returns the JPEG decoder and a fingerprint of its results. */
    public String decoder() {
        return decoders.description();
    }

    /** Allocates the memory and decoders of one thread. */
    public Room newRoom() {
        return new Room();
    }

    /**
     * Writes the row of an image: bytes, height × width × channels, from {@code at} on. Fails with {@code BAD_INPUT} if it cannot be
     * decoded, or has too many pixels; then it allocates no memory for them.
     */
    public void make(DirectBuffer encoded, SampleRandom random, byte[] target, int at, Room room) {
        long start = System.nanoTime();
        EncodedImage image = room.image;
        image.set(encoded);
        ImageDecoder.Session session = room.session(decoders.forBytes(image));
        session.readHeader(image);
        int height = session.height();
        int width = session.width();
        requireFewPixels(height, width);
        framing.frame(height, width, random, room.frame);
        int shrink = decode.size() == DecodeSize.FULL ? 1 : room.frame.shrink(session.mostShrink());
        int rows = (int) Math.ceil(room.frame.bottom);
        session.decode(image, decode.colours(), shrink, rows, room.pixels);
        DecodeTime.add(System.nanoTime() - start);
        room.frame.shrinkBy(shrink);
        room.resizer.run(room.pixels, room.frame, framing.filter(), framing.height(), framing.width(), target, at);
    }

    private void requireFewPixels(int height, int width) {
        if ((long) height * width > decode.maxPixels()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "image has too many pixels")
                    .with("height", height)
                    .with("width", width)
                    .with("maxPixels", decode.maxPixels())
                    .remedy("raise maxPixels of decode(…) if the file is genuine");
        }
    }

    /** One thread's memory and decoders. */
    public final class Room {
        private final EncodedImage image = new EncodedImage();
        private final DecodedPixels pixels = new DecodedPixels();
        private final Frame frame = new Frame();
        private final Resizer resizer = new Resizer();
        private final ImageDecoder.Session jpeg = decoders.jpeg().open();
        private final ImageDecoder.Session others = decoders.others().open();

        private Room() {}

        private ImageDecoder.Session session(ImageDecoder decoder) {
            return decoder == decoders.jpeg() ? jpeg : others;
        }
    }

    /** Resizes images of one size in memory. Not thread-safe. */
    public static final class Resizing {
        private final BytePixels pixels = new BytePixels();
        private final Frame frame = new Frame();
        private final Resizer resizer = new Resizer();

        /** Resizes an image of 1 or 3 channels to {@code newHeight × newWidth} pixels. */
        @SuppressWarnings(
                "checkstyle:ParameterNumber") // called for every sample, so nothing may be allocated to hold them
        public void run(
                byte[] stored, int first, int height, int width, int channels, Step.Resize step, byte[] target) {
            Resampling filter = step.filter();
            pixels.begin(stored, first, height, width, channels);
            frame.set(0, 0, width, height, step.width(), step.height());
            resizer.run(pixels, frame, filter, step.height(), step.width(), target, 0);
        }
    }

    @Override
    public String toString() {
        return "ImageMaker{" + Colours.class.getSimpleName() + "=" + decode.colours() + " decoder=" + decoder() + "}";
    }
}
