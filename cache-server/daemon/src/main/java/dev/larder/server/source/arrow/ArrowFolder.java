package dev.larder.server.source.arrow;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.Names;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Tells which Arrow files of a folder belong together, and in which order. Hugging Face says it: {@code state.json} lists what {@code
 * save_to_disk} wrote, {@code dataset_info.json} the splits of a cache. Elsewhere names tell: {@code train-00000-of-00002.arrow}.
 */
public final class ArrowFolder {
    private static final String STATE = "state.json";
    private static final String INFO = "dataset_info.json";
    private static final String DICT = "dataset_dict.json";

    /** The ends of the names of Arrow files and streams. */
    public static final List<String> SUFFIXES = List.of(".arrow", ".arrows", ".ipc", ".feather");

    /** What {@code map} and its like keep beside the data. */
    private static final Pattern DERIVED = Pattern.compile("(?:cache-|tmp).*", Pattern.DOTALL);

    private static final Pattern SHARD =
            Pattern.compile("(?<stem>.+?)[-_](?<index>[0-9]{1,8})[-_]of[-_](?<count>[0-9]{1,8})", Pattern.DOTALL);
    private static final Pattern PART = Pattern.compile("part-(?<index>[0-9]{1,8})");

    private static final int MOST_MISSING = 10;

    /** Shards called so are all that there is. */
    private static final String ONLY = "data";

    private static final int MOST_JSON_BYTES =
            (int) Math.min(16 << 20, Runtime.getRuntime().maxMemory() / 32);

    private final Path folder;
    private final List<String> names;
    private final List<Group> groups = new ArrayList<>();

    /**
     * Files that follow each other.
     *
     * @param level what comes before the names of their arrays, with a slash at its end; may be empty
     * @param names of the files in the folder, in their order
     * @param features what is known of their columns beside what they say themselves
     * @param rows how many rows they must have together; -1 where nobody says it
     */
    public record Group(String level, List<String> names, Features features, long rows) {
        /** Keeps its own copy. */
        public Group {
            names = List.copyOf(names);
        }
    }

    private ArrowFolder(Path folder, List<String> names) {
        this.folder = folder;
        this.names = names;
    }

    /** Tells whether a file's name says that it is an Arrow file or stream. */
    public static boolean isNamedSo(String name) {
        return SUFFIXES.stream().anyMatch(name.toLowerCase(Locale.ROOT)::endsWith);
    }

    /** Tells whether a file says something of the Arrow files beside it. */
    public static boolean isAbout(String name) {
        return name.equals(STATE) || name.equals(INFO) || name.equals(DICT);
    }

    /**
     * Groups the Arrow files of a folder; those that are in no group are none of its data. Fails with {@link
     * dev.larder.error.ErrorCode#BAD_INPUT} where one is missing.
     */
    public static List<Group> groups(Path folder, List<String> names) {
        ArrowFolder found = new ArrowFolder(folder, names);
        JsonObject state = found.json(STATE);
        JsonObject info = found.json(INFO);
        if (state != null) {
            found.groupSaved(state, info);
        } else if (info != null && Features.member(info, "splits") instanceof JsonObject splits) {
            found.groupSplits(splits, new Features(info.get("features")));
        } else {
            found.groupByName(names, info == null ? Features.NONE : new Features(info.get("features")));
        }
        return found.groups;
    }

    /** Refuses a folder where a split is missing that was saved with others. */
    public static void requireSplits(Path folder) {
        ArrowFolder found = new ArrowFolder(folder, List.of());
        JsonObject dict = found.json(DICT);
        if (dict == null || !(dict.get("splits") instanceof JsonArray splits)) {
            return;
        }
        for (JsonElement split : splits) {
            String name = text(split);
            if (Names.arrayObjection(name) != null || !Files.isDirectory(folder.resolve(name))) {
                throw found.missing(name, DICT);
            }
        }
    }

    /** Refuses a folder of a dataset that was saved without rows, and so without a file that says the types of its columns. */
    public static void requireRows(Path folder) {
        ArrowFolder found = new ArrowFolder(folder, List.of());
        JsonObject state = found.json(STATE);
        if (state != null && listed(state).isEmpty()) {
            throw found.withoutRows();
        }
    }

    private static List<String> listed(JsonObject state) {
        List<String> listed = new ArrayList<>();
        if (state.get("_data_files") instanceof JsonArray files) {
            for (JsonElement file : files) {
                listed.add(text(Features.member(file, "filename")));
            }
        }
        return listed;
    }

    private void groupSaved(JsonObject state, @Nullable JsonObject info) {
        if (state.get("_indices_data_files") instanceof JsonArray indices && !indices.isEmpty()) {
            throw Refusal.unfit(
                    folder.resolve(STATE),
                    "it lists files of indices, as early releases of datasets wrote them: its rows are a choice from those of the data files",
                    "save it again with a current release, or load the data files by themselves");
        }
        List<String> listed = listed(state);
        for (String name : listed) {
            if (!names.contains(name)) {
                throw missing(name, STATE);
            }
        }
        if (listed.isEmpty()) {
            throw withoutRows();
        }
        groups.add(new Group("", listed, info == null ? Features.NONE : new Features(info.get("features")), -1));
    }

    private LarderException withoutRows() {
        return Refusal.unfit(
                folder.resolve(STATE),
                "it lists no data files: the dataset has no rows",
                "save it again when it has rows, or load the other splits");
    }

    private LarderException missing(String name, String by) {
        return Refusal.unfit(
                folder.resolve(by),
                "it lists " + Names.printable(name) + ", which is missing",
                "copy the whole folder, or make it again");
    }

    private static String text(@Nullable JsonElement json) {
        return json instanceof JsonPrimitive text ? text.getAsString() : "";
    }

    private void groupSplits(JsonObject splits, Features features) {
        TreeSet<String> longestFirst = new TreeSet<>(
                Comparator.comparingInt(String::length).reversed().thenComparing(Comparator.naturalOrder()));
        longestFirst.addAll(splits.keySet());
        Map<String, List<String>> ofSplit = new TreeMap<>();
        for (String name : names) {
            if (DERIVED.matcher(name).matches()) {
                continue;
            }
            Matcher shard = SHARD.matcher(stem(name));
            String stem = shard.matches() ? shard.group("stem") : stem(name);
            longestFirst.stream()
                    .filter(split -> stem.equals(split) || stem.endsWith("-" + split))
                    .findFirst()
                    .ifPresent(split -> ofSplit.computeIfAbsent(split, s -> new ArrayList<>())
                            .add(name));
        }
        for (String split : splits.keySet()) {
            List<String> files = ofSplit.getOrDefault(split, List.of());
            long rows = Features.number(Features.member(splits.get(split), "num_examples"));
            if (files.isEmpty()) {
                throw missing("*-" + split + SUFFIXES.get(0), INFO);
            }
            groups.add(new Group(split + "/", inOrder(files), features, rows));
        }
    }

    private void groupByName(List<String> all, Features features) {
        Map<String, List<String>> byStem = new TreeMap<>();
        for (String name : all) {
            Matcher shard = SHARD.matcher(stem(name));
            boolean isPart = PART.matcher(stem(name)).matches();
            String stem = isPart ? ONLY : shard.matches() ? shard.group("stem") : stem(name);
            boolean isShard = isPart || shard.matches();
            String level = isShard && stem.equals(ONLY) ? "" : stem + "/";
            byStem.computeIfAbsent(level, s -> new ArrayList<>()).add(name);
        }
        byStem.forEach((level, files) -> groups.add(new Group(level, inOrder(files), features, -1)));
    }

    private static String stem(String name) {
        return name.substring(0, name.lastIndexOf('.'));
    }

    /** Sorts shards by their numbers, which must be complete. */
    private List<String> inOrder(List<String> files) {
        Map<Integer, String> byIndex = new TreeMap<>();
        int count = -1;
        for (String file : files) {
            Matcher shard = SHARD.matcher(stem(file));
            Matcher part = PART.matcher(stem(file));
            boolean isShard = shard.matches();
            if (!isShard && !part.matches()) {
                requireAlone(files, file);
                return files;
            }
            int index = Integer.parseInt((isShard ? shard : part).group("index"));
            int its = isShard ? Integer.parseInt(shard.group("count")) : Math.max(count, index + 1);
            String other = byIndex.put(index, file);
            if (other != null) {
                throw other(file, "it has the same number as " + other);
            } else if (index >= its) {
                throw other(file, "its number is " + index + ", and shards of " + its + " end with " + (its - 1));
            } else if (isShard && count >= 0 && count != its) {
                throw other(file, "it says that there are " + its + " shards, and " + files.get(0) + " says " + count);
            }
            count = its;
        }
        requireComplete(files.get(0), byIndex, count);
        return List.copyOf(byIndex.values());
    }

    private LarderException other(String file, String reason) {
        return Refusal.unfit(folder.resolve(file), reason, "leave one of them out with --exclude");
    }

    private void requireComplete(String first, Map<Integer, String> byIndex, int count) {
        int absent = count - byIndex.size();
        if (absent == 0) {
            return;
        }
        List<Integer> missing = IntStream.range(0, count)
                .filter(index -> !byIndex.containsKey(index))
                .limit(MOST_MISSING)
                .boxed()
                .toList();
        boolean isPart = PART.matcher(stem(first)).matches();
        throw Refusal.unfit(
                folder.resolve(first),
                absent == 1
                        ? (isPart ? "part " : "shard ") + missing.get(0) + " of " + count + " is missing beside it"
                        : absent + " of " + count + (isPart ? " parts" : " shards") + " are missing beside it: "
                                + missing + (absent > missing.size() ? " and more" : ""),
                isPart ? "copy the whole folder; parts are numbered from 0 on" : "copy the whole folder");
    }

    private void requireAlone(List<String> files, String file) {
        if (files.size() > 1) {
            throw Refusal.unfit(
                    folder.resolve(file),
                    "it does not belong with " + files.get(files.get(0).equals(file) ? 1 : 0)
                            + ", which is called alike",
                    "leave one of them out with --exclude");
        }
    }

    private @Nullable JsonObject json(String name) {
        Path file = folder.resolve(name);
        if (!Files.isRegularFile(file)) {
            return null;
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] json = in.readNBytes(MOST_JSON_BYTES + 1);
            if (json.length > MOST_JSON_BYTES) {
                throw Refusal.of(file, 0, "it is longer than " + MOST_JSON_BYTES + " bytes");
            }
            if (JsonParser.parseString(new String(json, StandardCharsets.UTF_8)) instanceof JsonObject object) {
                return object;
            }
            throw Refusal.of(file, 0, "it is not what Hugging Face writes");
        } catch (JsonParseException | IllegalStateException e) {
            throw Refusal.of(file, 0, "it is not valid JSON (" + Refusal.words(e) + ")");
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, e);
        }
    }
}
