package dev.larder.reader;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.Consumer;

/**
 * Reads what lies elsewhere, such as below {@code https://} or in a bucket: says what is there, and gives bytes of it. Found by {@link
 * java.util.ServiceLoader}, in a process that serves one load and ends. An {@link IOException} that is no {@link BadSource} stands for what
 * may pass: {@link #open} is called again then, after a pause; what {@link #list} asks for it repeats itself, by {@link Retries}.
 * Thread-safe.
 */
public interface PlaceReader {
    /** Returns the kind of places, which is what its folder below {@code lib/readers} is called. */
    String kind();

    /**
     * Finds every object at an address: the one that is called so, or all that lie below it.
     *
     * @param address as the user named it; never to be quoted, as it may have a password or a signature
     * @param connections how many requests may be made at once
     * @param found takes each object, from any thread
     * @throws BadSource where nothing is there, or where it may not be read: with the credentials that were tried, by their source
     */
    void list(String address, int connections, Consumer<PlaceObject> found) throws IOException;

    /**
     * Opens an object from one byte on. The stream has the bytes up to the end that is asked for at least, unless the connection breaks.
     *
     * @param from the first byte; 0 where the object can only be read as a whole
     * @param end the byte after the last
     * @throws BadSource as {@link BadSource#changed} makes it, where the object is not what was listed
     */
    InputStream open(PlaceObject object, long from, long end) throws IOException;
}
