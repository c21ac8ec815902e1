package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.layout.ArrayName;
import dev.larder.layout.Names;
import dev.larder.layout.StoreLayout;
import dev.larder.npy.NpyHeader;
import dev.larder.protocol.ArrayRow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A file of a known kind, found but not yet opened.
 *
 * @param path where it lies
 * @param kind what its name says it is
 * @param arrayName what its array is called within the dataset, or what the names of its members begin with
 * @param hasMembers whether it has arrays with names of their own
 */
record SourceFile(Path path, SourceKind kind, String arrayName, boolean hasMembers) {
    /** Deflate cannot pack tighter; so a small file cannot make us reserve terabytes. */
    private static final long TIGHTEST_PACKING = 1032;

    /** Describes a file in a folder. */
    static SourceFile below(String folder, Path path, SourceKind kind, SourceOptions options) {
        return new SourceFile(path, kind, folder + kind.stem(fileName(path)), kind.hasMembers(options));
    }

    /** Describes a file that is a source by itself: the names of its members stand alone. */
    static SourceFile alone(Path path, SourceKind kind, SourceOptions options) {
        boolean hasMembers = kind.hasMembers(options);
        return new SourceFile(path, kind, hasMembers ? "" : kind.stem(fileName(path)), hasMembers);
    }

    /** Reads and checks everything but the data itself. */
    List<SourceArray> check(String dataset, SourceOptions options, SourceProbe probe) {
        if (!hasMembers) {
            requireName(arrayName);
        }
        SourceProbe.Look look = probe.look(path);
        List<SourceIdentity> files = List.of(look.identity());
        List<SourceArray> arrays = new ArrayList<>();
        for (Member member : members(probe, look, options)) {
            String name = nameOf(member);
            requireName(name);
            requireStorable(member.header(), probe);
            requireListable(dataset + "/" + name, member.header());
            arrays.add(new SourceArray(
                    new ArrayName(dataset, name), member.header(), member.data(), files, member.part()));
        }
        return arrays;
    }

    /** Returns whether the file is a gzip of what the rest of its name says. */
    boolean isGzip() {
        return fileName(path).endsWith(".gz");
    }

    String fileName() {
        return fileName(path);
    }

    /** Refuses data that does not end where the file does. */
    void requireExact(long dataOffset, long wanted, long fileSize) {
        long present = fileSize - dataOffset;
        if (present < wanted) {
            throw Refusal.of(path, fileSize, "it ends after " + present + " of " + wanted + " bytes of data");
        } else if (present > wanted) {
            throw Refusal.of(
                    path, dataOffset + wanted, (present - wanted) + " bytes follow the " + wanted + " bytes of data");
        }
    }

    /** Refuses data that cannot be packed into so few bytes. */
    static void requirePlausible(Path path, String what, long unpackedBytes, long packedBytes) {
        if (unpackedBytes / TIGHTEST_PACKING > packedBytes) {
            throw Refusal.of(
                    path, 0, what + packedBytes + " bytes cannot hold the " + unpackedBytes + " bytes it claims");
        }
    }

    private List<Member> members(SourceProbe probe, SourceProbe.Look look, SourceOptions options) {
        try {
            return kind.format().members(this, probe, look, options);
        } catch (IOException e) {
            throw Refusal.unreadable(path, 0, e);
        }
    }

    private String nameOf(Member member) {
        if (!hasMembers) {
            return arrayName;
        }
        return arrayName.isEmpty() ? member.name() : arrayName + "/" + member.name();
    }

    private void requireName(String name) {
        String objection = Names.arrayObjection(name);
        if (objection != null) {
            throw Refusal.unfit(
                    path,
                    "its array cannot be called " + Names.printable(name) + ": " + objection,
                    "rename the file, leave it out with --exclude, or load the folder --as bytes, where a file may have any"
                            + " name");
        }
    }

    /** A header may be readable by us and yet too long for numpy where the store would put it. */
    private void requireStorable(NpyHeader header, SourceProbe probe) {
        if (probe.isStorable(header)) {
            return;
        }
        try {
            header.encode(StoreLayout.DATA_ALIGNMENT);
            probe.noteStorable(header);
        } catch (LarderException e) {
            if (e.code() != ErrorCode.BAD_INPUT) {
                throw e;
            }
            throw Refusal.of(path, 0, e.getMessage() == null ? "it cannot be stored" : e.getMessage());
        }
    }

    private void requireListable(String name, NpyHeader header) {
        String objection = ArrayRow.objection(name, header.dtype());
        if (objection != null) {
            throw Refusal.unfit(
                    path, "its array cannot be listed: " + objection, "shorten names of files, folders or fields");
        }
    }

    private static String fileName(Path path) {
        return String.valueOf(path.getFileName());
    }
}
