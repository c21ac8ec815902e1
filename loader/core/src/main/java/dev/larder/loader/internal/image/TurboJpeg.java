package dev.larder.loader.internal.image;

import com.sun.jna.Pointer;
import dev.larder.error.LarderException;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.transform.Colours;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** Decodes JPEG with the system's libjpeg-turbo. */
final class TurboJpeg implements ImageDecoder {
    /** The library of Debian's package libturbojpeg0 and others. */
    static final String LIBRARY = "libturbojpeg.so.0";

    private static final Cleaner CLEANER = Cleaner.create();
    private static final int MOST_SHRINK = 8;

    /** Prefixes of libjpeg's warnings after which all pixels are complete. */
    private static final List<String> TOLERATED = List.of(
            "Corrupt JPEG data",
            "Inconsistent progression sequence",
            "Invalid SOS parameters for sequential JPEG",
            "Unknown Adobe color transform",
            "Warning: unknown JFIF revision");

    /** The end of the warning of bytes that were not decoded before the end of the image. */
    private static final String BYTES_BEFORE_END = " extraneous bytes before marker 0xd9";

    /** The rows below a row that have an effect on it: two rows of pixels share one of colours, and it is blended with the next. */
    private static final int CONTEXT_ROWS = 2;

    private final String name;

    private TurboJpeg(String name) {
        this.name = name;
    }

    /** Loads the library by name or path; returns null if there is none. */
    static @Nullable TurboJpeg load(String library) {
        try {
            TurboJpegLibrary.bind(library);
            return new TurboJpeg(fileName());
        } catch (LinkageError absent) {
            return null;
        }
    }

    /** Returns the name of the library's file, which contains its version. */
    private static String fileName() {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.map(line -> line.substring(line.lastIndexOf('/') + 1))
                    .filter(file -> file.startsWith("libturbojpeg"))
                    .findFirst()
                    .orElse(LIBRARY);
        } catch (IOException e) {
            return LIBRARY;
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Session open() {
        long handle = TurboJpegLibrary.tjInitDecompress();
        if (handle == 0) {
            throw new OutOfMemoryError("tjInitDecompress");
        }
        JpegSession session = new JpegSession(name, handle);
        CLEANER.register(session, () -> {
            var unused = TurboJpegLibrary.tjDestroy(handle);
        });
        return session;
    }

    private static final class JpegSession implements Session {
        private static final int INTS = 4;

        private final String decoder;
        private final long handle;
        private final ByteBuffer memory =
                HostMemory.allocate(INTS * Integer.BYTES).bytes();
        private final UnsafeBuffer header = new UnsafeBuffer(memory);

        JpegSession(String decoder, long handle) {
            this.decoder = decoder;
            this.handle = handle;
        }

        @Override
        public void readHeader(EncodedImage image) {
            long at = header.addressOffset();
            int result = TurboJpegLibrary.tjDecompressHeader3(
                    handle, image.address(), image.length(), at, at + 4, at + 8, at + 12);
            if (result != 0) {
                requireOnlyWarned(image, error());
            }
        }

        @Override
        public int width() {
            return header.getInt(0);
        }

        @Override
        public int height() {
            return header.getInt(4);
        }

        @Override
        public int mostShrink() {
            return MOST_SHRINK;
        }

        @Override
        public void decode(EncodedImage image, Colours colours, int shrink, int rows, DecodedPixels target) {
            int jpegColours = header.getInt(12);
            boolean inks = jpegColours == TurboJpegLibrary.COLOURS_CMYK || jpegColours == TurboJpegLibrary.COLOURS_YCCK;
            boolean grey = colours == Colours.GREY && !inks;
            int width = shrunk(width(), shrink);
            int decodedRows = JpegHeight.limit(image, height(), rows, CONTEXT_ROWS * shrink);
            int height = shrunk(decodedRows, shrink);
            target.begin(height, width, grey ? 1 : 3);
            int result = TurboJpegLibrary.tjDecompress2(
                    handle,
                    image.address(),
                    image.length(),
                    target.address(),
                    width,
                    0,
                    height,
                    inks
                            ? TurboJpegLibrary.PIXELS_CMYK
                            : grey ? TurboJpegLibrary.PIXELS_GREY : TurboJpegLibrary.PIXELS_RGBX,
                    TurboJpegLibrary.ACCURATE_DCT | TurboJpegLibrary.LIMIT_SCANS);
            if (result != 0) {
                requireWhole(image, decodedRows < height());
            }
            if (inks) {
                Inks.toRgb(target);
                if (colours == Colours.GREY) {
                    target.toGrey();
                }
            }
        }

        private static int shrunk(int side, int shrink) {
            return (side + shrink - 1) / shrink;
        }

        /**
         * Accepts the same damage as other libraries, such as extra bytes or a damaged part, but not a truncated file. The library reports
         * only the first warning, so this searches the file for its end. If rows were left out, they are the extra bytes.
         */
        private void requireWhole(EncodedImage image, boolean areRowsLeftOut) {
            String error = error();
            requireOnlyWarned(image, error);
            boolean isEndSeen = areRowsLeftOut && error.endsWith(BYTES_BEFORE_END);
            if (!isEndSeen && !image.hasEndOfJpeg()) {
                throw failure(image, error + "; the file ends early");
            }
        }

        /**
         * Fails if no pixels were decoded. Compares the text: after a warning and an error, the library returns the code of the warning
         * and the text of the error.
         */
        private void requireOnlyWarned(EncodedImage image, String error) {
            if (TurboJpegLibrary.tjGetErrorCode(handle) != TurboJpegLibrary.WARNING
                    || TOLERATED.stream().noneMatch(error::startsWith)) {
                throw failure(image, error);
            }
        }

        private LarderException failure(EncodedImage image, String reason) {
            return image.failure(decoder, reason).exception();
        }

        private String error() {
            return new Pointer(TurboJpegLibrary.tjGetErrorStr2(handle)).getString(0);
        }
    }
}
