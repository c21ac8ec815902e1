package dev.larder.readers.hdfs;

import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Writes an array of bytes that count up to a file of HDFS: ROOT PATH LENGTH FIRST. */
final class HdfsWriter {
    private HdfsWriter() {}

    /** Writes it and ends. */
    public static void main(String[] args) throws Exception {
        byte[] data = new byte[Integer.parseInt(args[2])];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) ((i + Integer.parseInt(args[3])) % 251);
        }
        try (FileSystem files = FileSystem.get(URI.create(args[0]), new Configuration());
                FSDataOutputStream file = files.create(new Path(args[1]), true)) {
            file.write(NpyHeader.of(Dtype.parse("|u1"), Order.C, data.length)
                    .encode(128)
                    .array());
            file.write(data);
        }
        Runtime.getRuntime().halt(0);
    }
}
