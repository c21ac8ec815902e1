package dev.larder.server.remote;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.SourceAddress;
import dev.larder.reader.Answer;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** A remote source: its listed objects, and the folder with a file for each of them. Not thread-safe. */
final class StagedPlace {
    private final LoadRequest.Source source;
    private final Path folder;

    /** The objects by name, with their numbers in the reader. */
    private final Map<String, Numbered> objects = new TreeMap<>();

    private final Set<Path> shifted = new HashSet<>();
    private boolean isAlone;

    record Numbered(int number, Answer.ListedObject listed) {}

    /** Describes a place; {@code folder} has the files of its reader. */
    StagedPlace(LoadRequest.Source source, Path folder, int number) {
        this.source = source;
        this.folder =
                folder.resolve("place" + number + "-"); // with an end: what is explained has no name within another
    }

    LoadRequest.Source source() {
        return source;
    }

    /** Returns the folder of its files, which is no other place's. */
    Path folder() {
        return folder;
    }

    void add(int number, Answer.ListedObject object) {
        objects.put(object.name(), new Numbered(number, object));
        isAlone = object.isAlone();
    }

    Map<String, Numbered> objects() {
        return objects;
    }

    boolean isAlone() {
        return isAlone;
    }

    /** Returns the path to load: the folder, or the file if the user named an object. */
    Path root() {
        return isAlone ? folder.resolve(objects.keySet().iterator().next()) : folder;
    }

    Path file(String name) {
        return folder.resolve(name);
    }

    /** Makes an empty file for each object: a load chooses files by their names. */
    void makeFiles() {
        Path at = folder;
        try {
            Files.createDirectories(folder);
            for (String name : objects.keySet()) {
                at = file(name);
                Files.createDirectories(Objects.requireNonNull(at.getParent()));
                Files.createFile(
                        at, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            }
        } catch (FileAlreadyExistsException e) {
            throw Refusal.unfit(at, "it is both a file and a folder there", "rename one of them");
        } catch (FileSystemException e) {
            if (String.valueOf(e.getReason()).contains("No space left on device")) {
                throw Failure.of(ErrorCode.NO_SPACE, "the store's file system has too little space for these files")
                        .with("objects", objects.size())
                        .cause(e)
                        .remedy(
                                "name folders below it, evict datasets that have a source, or use a mount with more inodes (nr_inodes)");
            }
            throw Refusal.unfit(at, "its name cannot be that of a file here: " + e.getReason(), "rename it");
        } catch (IOException e) {
            throw Refusal.unfit(at, "its name cannot be that of a file here: " + Failure.words(e), "rename it");
        }
    }

    /** Notes a file that is written behind its place. */
    void noteShifted(Path file) {
        shifted.add(file);
    }

    /** Returns the files that were written behind their place. */
    Set<Path> shifted() {
        return shifted;
    }

    /** Returns the name of an object by the path of its file. */
    String name(String path) {
        return path.substring(Math.min(path.length(), folder.toString().length() + 1));
    }

    /** Returns the address of an object by the path of its file, without secrets. */
    String visible(String path) {
        String address = source.visiblePath();
        String name = name(path);
        return isAlone || name.isEmpty() ? address : address + (address.endsWith("/") ? "" : "/") + name;
    }

    /** Replaces paths in a text by addresses, and removes secrets. */
    String explained(String text) {
        String address = source.visiblePath();
        String below = address.endsWith("/") ? address : address + "/";
        String explained = text;
        if (isAlone) {
            explained = explained.replace(root().toString(), address);
        }
        explained = explained
                .replace(folder + "/", below)
                .replace(folder.toString(), address)
                .replace(source.path(), address);
        for (String secret : SourceAddress.secrets(source.path())) {
            explained = secret.length() > 3 ? explained.replace(secret, "…") : explained;
        }
        return explained;
    }
}
