package dev.larder.reader;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** What a reader tells the daemon, one after the other on its standard output. Every length is limited. */
public sealed interface Answer {
    /** One of the arrays of the source. */
    record Offered(Offer offer) implements Answer {}

    /** One of the objects of a place; see {@link PlaceObject}. */
    record Listed(
            int place, String name, boolean isAlone, long byteSize, long modifiedNanos, String tag, boolean hasRanges)
            implements Answer {}

    /** So many more bytes of the source were looked at, or of arrays written. */
    record Progressed(long bytes) implements Answer {}

    /** What was asked for is done. */
    record Finished() implements Answer {}

    /** The source cannot be read; see {@link BadSource}. */
    record Refused(int file, long offset, String column, String reason, String remedy) implements Answer {}

    /** The reader itself has failed. */
    record Failed(String reason) implements Answer {}

    /** Writes this. */
    default void write(DataOutputStream out) throws IOException {
        if (this instanceof Offered offered) {
            Offer offer = offered.offer;
            out.writeByte('O');
            Wire.writeText(out, offer.name());
            Wire.writeText(out, offer.part());
            Wire.writeText(out, offer.dtype());
            out.writeInt(offer.shape().size());
            for (long dimension : offer.shape()) {
                out.writeLong(dimension);
            }
            out.writeInt(offer.file());
            out.writeLong(offer.offset());
        } else if (this instanceof Listed listed) {
            out.writeByte('L');
            out.writeInt(listed.place);
            Wire.writeText(out, listed.name);
            out.writeBoolean(listed.isAlone);
            out.writeLong(listed.byteSize);
            out.writeLong(listed.modifiedNanos);
            Wire.writeText(out, listed.tag);
            out.writeBoolean(listed.hasRanges);
        } else if (this instanceof Progressed progressed) {
            out.writeByte('P');
            out.writeLong(progressed.bytes);
        } else if (this instanceof Finished) {
            out.writeByte('F');
        } else if (this instanceof Refused refused) {
            out.writeByte('R');
            out.writeInt(refused.file);
            out.writeLong(refused.offset);
            Wire.writeText(out, refused.column);
            Wire.writeText(out, refused.reason);
            Wire.writeText(out, refused.remedy);
        } else if (this instanceof Failed failed) {
            out.writeByte('X');
            Wire.writeText(out, failed.reason);
        }
    }

    /** Reads the next one; fails where it is none. */
    static Answer read(DataInputStream in) throws IOException {
        int tag = in.readByte();
        switch (tag) {
            case 'O' -> {
                String name = Wire.readText(in);
                String part = Wire.readText(in);
                String dtype = Wire.readText(in);
                int dimensions = Wire.requireCount(in.readInt(), Wire.MOST_DIMENSIONS);
                List<Long> shape = new ArrayList<>(dimensions);
                for (int i = 0; i < dimensions; i++) {
                    shape.add(in.readLong());
                }
                return new Offered(new Offer(name, part, dtype, shape, in.readInt(), in.readLong()));
            }
            case 'L' -> {
                return new Listed(
                        in.readInt(),
                        Wire.readText(in),
                        in.readBoolean(),
                        in.readLong(),
                        in.readLong(),
                        Wire.readText(in),
                        in.readBoolean());
            }
            case 'P' -> {
                return new Progressed(in.readLong());
            }
            case 'F' -> {
                return new Finished();
            }
            case 'R' -> {
                return new Refused(
                        in.readInt(), in.readLong(), Wire.readText(in), Wire.readText(in), Wire.readText(in));
            }
            case 'X' -> {
                return new Failed(Wire.readText(in));
            }
            default -> throw new IOException("no answer begins with the byte " + tag);
        }
    }
}
