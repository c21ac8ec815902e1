package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.npy.Dtype;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;

/** A store on overlayfs, where the kernel grants read leases on files that a mapping can still write to. */
class OverlayStoreTest {
    private static final int LARGE = 5 << 20;

    @Test
    void aMappingThatOutlivesItsDescriptorCannotChangeWhatIsPublished() throws IOException {
        try (TinyTmpfs below = TinyTmpfs.mount("size=100m");
                TinyTmpfs overlay = below.overlay();
                ServedStore served = ServedStore.at(overlay.folder().resolve("store"))) {
            served.start();
            try (Larder larder = Larder.connect(served.root());
                    DatasetBuilder builder = larder.build("made")) {
                builder.array("large", Dtype.parse("|u1"), LARGE);
                MappedByteBuffer late = map(builder.folder().resolve("large.npy"));
                builder.publish();
                late.put(late.capacity() - 1, (byte) 77);

                try (OwnedArrayView published = larder.open("made/large")) {
                    assertThat(published.getInt(LARGE - 1)).isZero();
                }
                assertThat(served.control().verify("made", progress -> {}).files())
                        .isEqualTo(1);
            }
        }
    }

    private static MappedByteBuffer map(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(MapMode.READ_WRITE, 0, channel.size());
        }
    }
}
