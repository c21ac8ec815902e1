package dev.larder.loader.internal.image;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import dev.larder.internal.posix.Posix;
import java.util.Map;

/**
 * The functions of version 2 of the TurboJPEG API, which version 3 has, too. Pointers and {@code unsigned long} are
 * Java's long.
 */
final class TurboJpegLibrary {
    static final int PIXELS_RGBX = 2;
    static final int PIXELS_GREY = 6;
    static final int PIXELS_CMYK = 11;
    static final int COLOURS_CMYK = 3;
    static final int COLOURS_YCCK = 4;

    /** The transform that other programs use by default, on any CPU. */
    static final int ACCURATE_DCT = 4096;

    /** Refuses images of hundreds of scans, which take minutes. */
    static final int LIMIT_SCANS = 32768;

    /** Pixels were decoded with a warning. */
    static final int WARNING = 0;

    private TurboJpegLibrary() {}

    /** Binds the functions; fails with a LinkageError if the library is missing. */
    static void bind(String library) {
        Posix.system(); // sets JNA's folder for its own library
        Native.register(
                TurboJpegLibrary.class,
                NativeLibrary.getInstance(library, Map.of(Library.OPTION_ALLOW_OBJECTS, false)));
    }

    static native long tjInitDecompress();

    static native int tjDecompressHeader3(
            long handle, long jpeg, long length, long width, long height, long sampling, long colours);

    @SuppressWarnings("checkstyle:ParameterNumber") // the library's
    static native int tjDecompress2(
            long handle, long jpeg, long length, long target, int width, int pitch, int height, int pixels, int flags);

    static native long tjGetErrorStr2(long handle);

    static native int tjGetErrorCode(long handle);

    static native int tjDestroy(long handle);
}
