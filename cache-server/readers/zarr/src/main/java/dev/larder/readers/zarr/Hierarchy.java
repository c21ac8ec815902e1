package dev.larder.readers.zarr;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.larder.reader.BadSource;
import dev.larder.reader.InputFile;
import dev.larder.reader.ReadProgress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The groups and arrays of Zarr folders. The daemon gives each file a level by the nearest folder above it that has metadata: all files of one
 * level are in one such folder. Consolidated metadata is a copy, which may be older: it counts only for arrays that have files, and no metadata
 * of their own.
 */
final class Hierarchy {
    static final String VERSION_3 = "zarr.json";
    static final String VERSION_2 = ".zarray";
    private static final String GROUP = ".zgroup";
    private static final String CONSOLIDATED = ".zmetadata";
    private static final Set<String> METADATA = Set.of(VERSION_3, VERSION_2, GROUP, CONSOLIDATED);
    private static final String SUFFIX = ".zarr";

    private final List<InputFile> inputs;
    private final Map<String, ChunkFiles> folders = new TreeMap<>();

    /**
     * An array, or a group.
     *
     * @param name with all levels
     * @param metadata the object that describes it; null if it is in a file of its own
     */
    record Node(
            String name, Place place, int version, @Nullable Fields metadata, ChunkFiles files) {
        /** Reads the object that describes it. */
        Fields fields() throws BadSource {
            return metadata == null ? Fields.of(files.path(place.file()), place) : metadata;
        }
    }

    private Hierarchy(List<InputFile> inputs) {
        this.inputs = inputs;
    }

    /** Sorts the files of a request. */
    static Hierarchy of(List<InputFile> inputs, ReadProgress progress) throws BadSource {
        Hierarchy hierarchy = new Hierarchy(inputs);
        for (int i = 0; i < inputs.size(); i++) {
            if (METADATA.contains(name(inputs.get(i).path()))) {
                hierarchy.addFolder(i);
            }
        }
        for (int i = 0; i < inputs.size(); i++) {
            hierarchy.addFile(i);
            progress.looked(1);
        }
        return hierarchy;
    }

    private static String name(Path path) {
        return String.valueOf(path.getFileName());
    }

    private void addFolder(int number) throws BadSource {
        InputFile input = inputs.get(number);
        String path = input.path().toString();
        String folder = path.substring(0, path.lastIndexOf('/') + 1);
        ChunkFiles known = folders.putIfAbsent(input.level(), new ChunkFiles(inputs, folder, new TreeMap<>(), ""));
        if (known != null && !known.folder().equals(folder)) {
            throw new BadSource(
                    number,
                    BadSource.NOWHERE,
                    "",
                    "its arrays would be called " + input.level() + "…, as those of " + known.folder(),
                    "rename one of them, or leave one out with --exclude");
        }
    }

    private void addFile(int number) throws BadSource {
        InputFile input = inputs.get(number);
        String path = input.path().toString();
        ChunkFiles files = folders.get(input.level());
        if (files == null || !path.startsWith(files.folder())) {
            throw new BadSource(
                    number,
                    BadSource.NOWHERE,
                    "",
                    "it is in no folder with metadata of Zarr",
                    "name the folder of a Zarr array or group, with its zarr.json or .zarray; unpack a .zarr that is a file");
        }
        files.numbers().put(path.substring(files.folder().length()), number);
    }

    /** Returns the nodes with metadata of their own. Those of version 3 may be arrays or groups. */
    List<Node> nodes() {
        List<Node> nodes = new ArrayList<>();
        folders.forEach((level, files) -> {
            Integer number = files.find(VERSION_3);
            int version = number == null ? 2 : 3;
            number = number == null ? files.find(VERSION_2) : number;
            if (number != null) {
                String name = name(level, files);
                nodes.add(new Node(name, new Place(number, name), version, null, files));
            }
        });
        return nodes;
    }

    /** The array of a folder that is the whole source has the name of the folder. */
    private static String name(String level, ChunkFiles files) {
        if (!level.isEmpty()) {
            return level.substring(0, level.length() - 1);
        }
        String name = name(Path.of(files.folder()));
        return name.endsWith(SUFFIX) && name.length() > SUFFIX.length()
                ? name.substring(0, name.length() - SUFFIX.length())
                : name;
    }

    /** Returns the arrays that only the consolidated metadata of groups has. */
    List<Node> consolidated() throws BadSource {
        Map<String, Node> nodes = new TreeMap<>();
        for (Map.Entry<String, ChunkFiles> folder : folders.entrySet()) {
            ChunkFiles files = folder.getValue();
            Integer number = files.find(CONSOLIDATED);
            if (number != null) {
                Place place = new Place(number, "");
                Fields all = Fields.of(files.path(number), place).object("metadata");
                for (String path : all.json().keySet()) {
                    if (path.endsWith("/" + VERSION_2)) {
                        String array = path.substring(0, path.length() - VERSION_2.length() - 1);
                        add(folder.getKey(), array, all.object(path), 2, nodes);
                    }
                }
            }
        }
        return List.copyOf(nodes.values());
    }

    /** Returns the arrays that only the consolidated metadata of a group of version 3 has. */
    List<Node> consolidated(Node group, Fields metadata) throws BadSource {
        Map<String, Node> nodes = new TreeMap<>();
        Fields all = metadata.object("consolidated_metadata").object("metadata");
        for (Map.Entry<String, JsonElement> each : all.json().entrySet()) {
            if (each.getValue() instanceof JsonObject node
                    && new Fields(node, group.place).text("node_type", "").equals("array")) {
                String level = inputs.get(group.place.file()).level();
                add(level, each.getKey(), new Fields(node, group.place), 3, nodes);
            }
        }
        return List.copyOf(nodes.values());
    }

    /** Adds an array below a group, unless it has metadata of its own, or no files. Its files have the level of the nearest folder with metadata. */
    private void add(String group, String path, Fields metadata, int version, Map<String, Node> nodes)
            throws BadSource {
        List<String> parts = Arrays.asList(path.split("/", -1));
        if (parts.contains("") || parts.contains(".") || parts.contains("..")) {
            throw metadata.place().damaged("its consolidated metadata has a bad path: " + path);
        }
        String level = group + path + "/";
        if (folders.containsKey(level)) {
            return;
        }
        String nearest = level;
        while (!folders.containsKey(nearest)) {
            nearest = nearest.substring(0, nearest.lastIndexOf('/', nearest.length() - 2) + 1);
        }
        String name = level.substring(0, level.length() - 1);
        Place place = new Place(metadata.place().file(), name);
        ChunkFiles files = folders.get(nearest).below(name.substring(nearest.length()));
        if (files.hasAny()) {
            nodes.put(name, new Node(name, place, version, new Fields(metadata.json(), place), files));
        }
    }
}
