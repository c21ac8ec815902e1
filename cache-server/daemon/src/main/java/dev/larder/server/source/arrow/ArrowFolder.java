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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Groups the Arrow files of a folder into tables, and orders them. Hugging Face lists them: {@code state.json} has the files of {@code
 * save_to_disk}, {@code dataset_info.json} the splits of a cache. Other files are grouped by name: {@code train-00000-of-00002.arrow}.
 */
public final class ArrowFolder {
    private static final String STATE = "state.json";
    private static final String INFO = "dataset_info.json";
    private static final String DICT = "dataset_dict.json";

    /** The suffixes of Arrow files and streams. */
    public static final List<String> SUFFIXES = List.of(".arrow", ".arrows", ".ipc", ".feather");

    /** Files that {@code map} and similar methods add to a cache. */
    private static final Pattern DERIVED = Pattern.compile("(?:cache-|tmp).*", Pattern.DOTALL);

    private static final Pattern SHARD = Pattern.compile(
            "(?<stem>.+?)[-_](?<index>[0-9]{1,8})[-_]of[-_](?<count>[0-9]{1,8})|part-(?<part>[0-9]{1,8})",
            Pattern.DOTALL);

    private static final int MOST_MISSING = 10;

    /** The stem of shards that need no level of their own. */
    private static final String ONLY = "data";

    private static final int MOST_JSON_BYTES =
            (int) Math.min(16 << 20, Runtime.getRuntime().maxMemory() / 32);

    private final Path folder;
    private final List<String> names;
    private final List<Group> groups = new ArrayList<>();

    /**
     * The files of a table.
     *
     * @param level the prefix of the names of its arrays, with a slash at its end; may be empty
     * @param names the files in the folder, in order
     * @param features the description of columns whose files have none
     * @param rows the rows that they must have; -1 if unknown
     */
    public record Group(String level, List<String> names, Features features, long rows) {
        /** Keeps its own copy. */
        public Group {
            names = List.copyOf(names);
        }
    }

    /** A file by the parts of its name. The index of a file that is no shard is -1; the count of parts is unknown, and -1. */
    private record Shard(String file, String stem, int index, int count) {
        static Shard of(String file) {
            String stem = file.substring(0, file.lastIndexOf('.'));
            Matcher matcher = SHARD.matcher(stem);
            if (!matcher.matches()) {
                return new Shard(file, stem, -1, -1);
            }
            String part = matcher.group("part");
            return part != null
                    ? new Shard(file, stem, Integer.parseInt(part), -1)
                    : new Shard(
                            file,
                            matcher.group("stem"),
                            Integer.parseInt(matcher.group("index")),
                            Integer.parseInt(matcher.group("count")));
        }

        String level() {
            return index >= 0 && (isPart() || stem.equals(ONLY)) ? "" : stem + "/";
        }

        boolean isPart() {
            return index >= 0 && count < 0;
        }
    }

    private ArrowFolder(Path folder, List<String> names) {
        this.folder = folder;
        this.names = names;
    }

    /** Returns whether the suffix of a file is that of an Arrow file or stream. */
    public static boolean isNamedSo(String name) {
        return SUFFIXES.stream().anyMatch(name.toLowerCase(Locale.ROOT)::endsWith);
    }

    /** Returns whether a file describes the Arrow files of its folder. */
    public static boolean isAbout(String name) {
        return name.equals(STATE) || name.equals(INFO) || name.equals(DICT);
    }

    /**
     * Groups the Arrow files of a folder, and leaves out those that are not its data. Fails with {@link
     * dev.larder.error.ErrorCode#BAD_INPUT} if one is missing.
     */
    public static List<Group> groups(Path folder, List<String> names) {
        ArrowFolder found = new ArrowFolder(folder, names);
        JsonObject state = found.json(STATE);
        JsonObject info = found.json(INFO);
        Features features = info == null ? Features.NONE : new Features(info.get("features"));
        if (state != null) {
            found.groupSaved(state, features);
        } else if (info != null && info.get("splits") instanceof JsonObject splits) {
            found.groupSplits(splits, features);
        } else {
            found.groupByName(features);
        }
        return found.groups;
    }

    /** Refuses a folder that lacks one of its splits. */
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

    /** Refuses a folder of a dataset without rows: it has no file with the types of its columns. */
    public static void requireRows(Path folder) {
        ArrowFolder found = new ArrowFolder(folder, List.of());
        JsonObject state = found.json(STATE);
        if (state != null) {
            found.listed(state);
        }
    }

    /** Returns the data files of a saved dataset, at least one. */
    private List<String> listed(JsonObject state) {
        List<String> listed = new ArrayList<>();
        if (state.get("_data_files") instanceof JsonArray files) {
            files.forEach(file -> listed.add(text(Features.member(file, "filename"))));
        }
        if (listed.isEmpty()) {
            throw Refusal.unfit(
                    folder.resolve(STATE),
                    "it lists no data files: the dataset has no rows",
                    "save it again when it has rows, or load the other splits");
        }
        return listed;
    }

    private void groupSaved(JsonObject state, Features features) {
        if (state.get("_indices_data_files") instanceof JsonArray indices && !indices.isEmpty()) {
            throw Refusal.unfit(
                    folder.resolve(STATE),
                    "it lists files of indices, the form of early releases of datasets: its rows are some of those of the data files",
                    "save it again with a current release, or load the data files by themselves");
        }
        List<String> listed = listed(state);
        for (String name : listed) {
            if (!names.contains(name)) {
                throw missing(name, STATE);
            }
        }
        groups.add(new Group("", listed, features, -1));
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
        List<String> longestFirst = splits.keySet().stream()
                .sorted(Comparator.comparingInt(String::length).reversed())
                .toList();
        Map<String, List<Shard>> ofSplit = new TreeMap<>();
        for (String name : names) {
            if (DERIVED.matcher(name).matches()) {
                continue;
            }
            Shard shard = Shard.of(name);
            longestFirst.stream()
                    .filter(split -> shard.stem.equals(split) || shard.stem.endsWith("-" + split))
                    .findFirst()
                    .ifPresent(split -> ofSplit.computeIfAbsent(split, its -> new ArrayList<>())
                            .add(shard));
        }
        for (String split : splits.keySet()) {
            List<Shard> shards = ofSplit.get(split);
            if (shards == null) {
                throw missing("*-" + split + SUFFIXES.get(0), INFO);
            }
            long rows = Features.number(Features.member(splits.get(split), "num_examples"));
            groups.add(new Group(split + "/", inOrder(shards), features, rows));
        }
    }

    private void groupByName(Features features) {
        Map<String, List<Shard>> byLevel = new TreeMap<>();
        for (String name : names) {
            Shard shard = Shard.of(name);
            byLevel.computeIfAbsent(shard.level(), level -> new ArrayList<>()).add(shard);
        }
        byLevel.forEach((level, shards) -> groups.add(new Group(level, inOrder(shards), features, -1)));
    }

    /** Sorts shards by their numbers, which must be complete. */
    private List<String> inOrder(List<Shard> shards) {
        Shard first = shards.get(0);
        Map<Integer, String> byIndex = new TreeMap<>();
        int count = -1;
        for (Shard shard : shards) {
            if (shard.index < 0) {
                requireAlone(shard, shards);
                return List.of(shard.file);
            }
            int its = shard.isPart() ? Math.max(count, shard.index + 1) : shard.count;
            String same = byIndex.put(shard.index, shard.file);
            if (same != null) {
                throw surplus(shard, "it has the same number as " + same);
            } else if (shard.index >= its) {
                throw surplus(
                        shard,
                        "its number is " + shard.index + ", but the last of " + its + " shards has " + (its - 1));
            } else if (!shard.isPart() && count >= 0 && count != its) {
                throw surplus(
                        shard, "it is one of " + its + " shards by its name, but " + first.file + " one of " + count);
            }
            count = its;
        }
        requireComplete(first, byIndex, count);
        return List.copyOf(byIndex.values());
    }

    private void requireAlone(Shard shard, List<Shard> shards) {
        if (shards.size() > 1) {
            Shard other = shards.get(shards.get(0).equals(shard) ? 1 : 0);
            throw surplus(shard, "its arrays would have the names of those of " + other.file);
        }
    }

    private LarderException surplus(Shard shard, String reason) {
        return Refusal.unfit(folder.resolve(shard.file), reason, "leave one of them out with --exclude");
    }

    private void requireComplete(Shard first, Map<Integer, String> byIndex, int count) {
        int absent = count - byIndex.size();
        if (absent == 0) {
            return;
        }
        List<Integer> missing = IntStream.range(0, count)
                .filter(index -> !byIndex.containsKey(index))
                .limit(MOST_MISSING)
                .boxed()
                .toList();
        String kind = first.isPart() ? "part" : "shard";
        throw Refusal.unfit(
                folder.resolve(first.file),
                absent == 1
                        ? kind + " " + missing.get(0) + " of " + count + " is missing from its folder"
                        : absent + " of " + count + " " + kind + "s are missing from its folder: " + missing
                                + (absent > missing.size() ? " and more" : ""),
                first.isPart() ? "copy the whole folder; parts are numbered from 0" : "copy the whole folder");
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
            throw Refusal.of(file, 0, "it is not a JSON object");
        } catch (JsonParseException | IllegalStateException e) {
            throw Refusal.of(file, 0, "it is not valid JSON (" + Refusal.words(e) + ")");
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, e);
        }
    }
}
