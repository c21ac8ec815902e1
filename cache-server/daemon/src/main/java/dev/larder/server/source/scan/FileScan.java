package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.npy.NpyHeader;
import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.SourceProbe;
import dev.larder.server.source.formats.ArrayFormats;
import dev.larder.server.source.formats.Member;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Finds the arrays in a file. */
record FileScan(DiscoveredFile file) {
    /** Reads and checks everything but the data itself. */
    List<SourceArray> arrays(String dataset, SourceOptions options, SourceProbe probe) {
        if (!file.hasMembers()) {
            requireName(file.arrayName());
        }
        List<Member> members = members(probe, options);
        try {
            return arrays(dataset, members, probe);
        } catch (RuntimeException | Error e) {
            members.forEach(member -> member.data().release());
            throw e;
        }
    }

    private List<SourceArray> arrays(String dataset, List<Member> members, SourceProbe probe) {
        List<SourceIdentity> files = List.of(file.identity());
        List<SourceArray> arrays = new ArrayList<>();
        for (Member member : members) {
            String name = nameOf(member);
            requireName(name);
            requireStorable(member.header(), probe);
            requireListable(dataset + "/" + name, member.header());
            arrays.add(new SourceArray(
                    new ArrayName(dataset, name), member.header(), member.data(), files, member.part()));
        }
        return arrays;
    }

    private List<Member> members(SourceProbe probe, SourceOptions options) {
        try {
            return ArrayFormats.of(file.kind()).members(file, probe, options);
        } catch (IOException e) {
            throw Refusal.unreadable(file.path(), 0, e);
        }
    }

    private String nameOf(Member member) {
        if (!file.hasMembers()) {
            return file.arrayName();
        }
        return file.arrayName().isEmpty() ? member.name() : file.arrayName() + "/" + member.name();
    }

    private void requireName(String name) {
        String objection = Names.arrayObjection(name);
        if (objection != null) {
            throw Refusal.unfit(
                    file.path(),
                    "its array cannot be called " + Names.printable(name) + ": " + objection,
                    "rename the file, leave it out with --exclude, or load the folder --as bytes, where a file may have"
                            + " any name");
        }
    }

    /** Refuses a header that numpy could not read in the store, because it would be too long there. */
    private void requireStorable(NpyHeader header, SourceProbe probe) {
        if (probe.isStorable(header)) {
            return;
        }
        try {
            StoreLayout.header(header);
            probe.noteStorable(header);
        } catch (LarderException e) {
            if (e.code() != ErrorCode.BAD_INPUT) {
                throw e;
            }
            throw Refusal.of(file.path(), 0, e.getMessage() == null ? "it cannot be stored" : e.getMessage());
        }
    }

    private void requireListable(String name, NpyHeader header) {
        String objection = ArrayRow.objection(name, header.dtype());
        if (objection != null) {
            throw Refusal.unfit(
                    file.path(),
                    "its array cannot be listed: " + objection,
                    "shorten names of files, folders or fields");
        }
    }
}
