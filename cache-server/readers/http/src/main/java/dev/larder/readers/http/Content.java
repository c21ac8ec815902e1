package dev.larder.readers.http;

import java.io.FilterInputStream;
import java.io.IOException;
import java.net.HttpURLConnection;

/** Content from a server. Closing it early drops the connection; otherwise Java would read the rest in order to reuse it. */
final class Content extends FilterInputStream {
    private final HttpURLConnection connection;
    private long left;

    Content(HttpURLConnection connection) throws IOException {
        super(connection.getInputStream());
        this.connection = connection;
        this.left = connection.getContentLengthLong() < 0 ? Long.MAX_VALUE : connection.getContentLengthLong();
    }

    @Override
    public int read() throws IOException {
        int value = in.read();
        count(value < 0 ? -1 : 1);
        return value;
    }

    @Override
    public int read(byte[] target, int from, int length) throws IOException {
        return count(in.read(target, from, length));
    }

    private int count(int count) {
        left = count < 0 ? 0 : left - count;
        return count;
    }

    @Override
    public void close() throws IOException {
        if (left > 0) {
            connection.disconnect();
        } else {
            in.close();
        }
    }
}
