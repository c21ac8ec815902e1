package dev.larder.server.source.formats;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.SourceProbe;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Says which arrays of a file are meant: those that are called like one of the keys; of a key that none is called like, those whose name
 * ends in {@code _} and the key, as files of a folder do. What is not meant is not even read.
 */
final class MemberChoice {
    private static final String OTHERS = "choose other arrays of the file with --columns";

    private final Set<String> taken;

    private MemberChoice(Set<String> taken) {
        this.taken = taken;
    }

    /** Chooses; fails with a refusal where nobody else could have what a file alone has not. */
    static MemberChoice of(DiscoveredFile file, SourceOptions options, SourceProbe probe, Collection<String> names) {
        if (options.keys().isEmpty()) {
            return new MemberChoice(Set.copyOf(names));
        }
        Set<String> all = new HashSet<>(names);
        Set<String> taken = new HashSet<>();
        List<String> missing = new ArrayList<>();
        for (String key : options.keys()) {
            List<String> ending =
                    names.stream().filter(name -> name.endsWith("_" + key)).toList();
            if (all.contains(key)) {
                taken.add(key);
                probe.noteColumn(key);
            } else if (ending.isEmpty()) {
                missing.add(key);
            }
            taken.addAll(all.contains(key) ? List.of() : ending);
        }
        if (file.arrayName().isEmpty() && !missing.isEmpty()) {
            throw Refusal.noColumns(file.path(), missing, names);
        }
        return new MemberChoice(taken);
    }

    /** Returns whether a choice among any names can take one. */
    static boolean mayTake(SourceOptions options, String name) {
        return options.keys().isEmpty()
                || options.keys().stream().anyMatch(key -> name.equals(key) || name.endsWith("_" + key));
    }

    boolean takes(String name) {
        return taken.contains(name);
    }

    /** Returns a refusal of one array with the remedy that the others can be had without it. */
    static LarderException refusal(LarderException reason) {
        return reason.code() == ErrorCode.BAD_INPUT
                ? new LarderException(reason.rawCode(), reason.getMessage() + ", or " + OTHERS, reason.getCause())
                : reason;
    }
}
