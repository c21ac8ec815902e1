package dev.larder.readers.s3;

import java.io.FilterInputStream;
import java.io.IOException;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/** Content from a bucket. Closing it early drops the connection; otherwise the SDK would read the rest in order to reuse it. */
final class ObjectStream extends FilterInputStream {
    private final ResponseInputStream<GetObjectResponse> answer;
    private long left;

    ObjectStream(ResponseInputStream<GetObjectResponse> answer, long length) {
        super(answer);
        this.answer = answer;
        this.left = length;
    }

    @Override
    public int read() throws IOException {
        int value = answer.read();
        left -= value < 0 ? left : 1;
        return value;
    }

    @Override
    public int read(byte[] target, int from, int length) throws IOException {
        int count = answer.read(target, from, length);
        left -= Math.max(0, count);
        return count;
    }

    @Override
    public void close() throws IOException {
        if (left > 0) {
            answer.abort();
        } else {
            answer.close();
        }
    }
}
