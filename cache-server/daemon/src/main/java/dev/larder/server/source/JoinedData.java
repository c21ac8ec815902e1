package dev.larder.server.source;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The data of several arrays or files, one after the other. */
final class JoinedData implements ArrayData {
    private final List<ArrayData> parts;
    private final List<FileRegion> regions;

    /** Joins parts in the order of their bytes. */
    JoinedData(List<ArrayData> parts) {
        this.parts = List.copyOf(parts);
        this.regions = regions(parts);
    }

    @Override
    public List<FileRegion> regions() {
        return regions;
    }

    /** Returns the regions of all parts that have bytes; none where a part has to be unpacked. */
    private static List<FileRegion> regions(List<ArrayData> parts) {
        List<FileRegion> regions = new ArrayList<>(parts.size());
        for (ArrayData part : parts) {
            List<FileRegion> found = part.regions();
            if (found.isEmpty()) {
                return List.of();
            }
            found.stream().filter(region -> region.byteSize() > 0).forEach(regions::add);
        }
        return Collections.unmodifiableList(regions);
    }

    @Override
    public ReadableByteChannel open() {
        return new Sequence(parts.iterator());
    }

    @Override
    public void release() {
        parts.forEach(ArrayData::release);
    }

    /** Opens a part when the one before has ended. */
    private static final class Sequence implements ReadableByteChannel {
        private final Iterator<ArrayData> rest;
        private @Nullable ReadableByteChannel current;
        private boolean open = true;

        Sequence(Iterator<ArrayData> rest) {
            this.rest = rest;
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            while (true) {
                ReadableByteChannel channel = current;
                if (channel == null) {
                    if (!rest.hasNext()) {
                        return -1;
                    }
                    channel = rest.next().open();
                    current = channel;
                }
                int read = channel.read(target);
                if (read >= 0) {
                    return read;
                }
                current = null;
                channel.close();
            }
        }

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public void close() throws IOException {
            open = false;
            ReadableByteChannel channel = current;
            if (channel != null) {
                channel.close();
            }
        }
    }
}
