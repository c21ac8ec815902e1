package dev.larder.server.source.scan;

import dev.larder.server.source.FileTable;
import dev.larder.server.source.arrow.ArrowFolder;
import org.jspecify.annotations.Nullable;

/**
 * Makes columns of Arrow files, and of folders that Hugging Face wrote: shards follow each other, each split and each folder below has
 * a level of names.
 */
final class ArrowFiles implements Format {
    private static final String KIND = "Arrow";

    @Override
    public @Nullable String kindOf(String fileName) {
        return ArrowFolder.isNamedSo(fileName) ? KIND : null;
    }

    @Override
    public boolean reads(String path) {
        return ArrowFolder.isNamedSo(path) || ArrowFolder.isAbout(path.substring(path.lastIndexOf('/') + 1));
    }

    @Override
    public void look(FileTable files, Findings found) {
        new ArrowColumns(found).add(); // of all files: some describe others
    }
}
