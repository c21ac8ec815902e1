package dev.larder.reader;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.Consumer;

/**
 * Reads remote objects, such as those below {@code https://} or in a bucket: lists them, and returns their bytes. {@link java.util.ServiceLoader}
 * finds it, in a process that serves one load and ends. An {@link IOException} other than {@link BadSource} may be temporary: {@link #open} is called
 * again after a pause, and {@link #list} repeats its own requests by {@link Retries}. Thread-safe.
 */
public interface PlaceReader {
    /** Returns the kind of places. Its folder below {@code lib/readers} has the same name. */
    String kind();

    /**
     * Finds the object with an address, or all objects below it.
     *
     * @param address as the user named it; messages must not contain it, as it may have a password or a signature
     * @param connections the most requests at a time
     * @param found takes each object, from any thread
     * @throws BadSource if there is no object, or if it may not be read: the message names the source of the credentials
     */
    void list(String address, int connections, Consumer<PlaceObject> found) throws IOException;

    /**
     * Opens an object. The stream has all bytes up to {@code end}, and maybe more, unless the connection breaks.
     *
     * @param from the first byte; 0 if the object can only be read as a whole
     * @param end the byte after the last
     * @throws BadSource as {@link BadSource#changed} returns it, if the object changed after it was listed
     */
    InputStream open(PlaceObject object, long from, long end) throws IOException;
}
