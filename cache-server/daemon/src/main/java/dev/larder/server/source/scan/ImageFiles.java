package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.formats.ImageFormat;
import org.jspecify.annotations.Nullable;

/**
 * Makes the images of a folder a column of their bytes, as they are, with their paths and the numbers of their classes. The folder
 * that an image lies in is its class; folders above that are splits, each with columns of its own, such as {@code train/image}. All
 * splits number the classes alike.
 */
final class ImageFiles implements Format {
    /** The name of this kind. */
    static final String KIND = "images";

    @Override
    public @Nullable String kindOf(String fileName) {
        return ImageFormat.isNamedSo(fileName) ? KIND : null;
    }

    @Override
    public void look(FileTable files, Findings found) {
        if (!found.options().keys().isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "--columns cannot be used with --as images")
                    .with("keys", found.options().keys())
                    .remedy("remove --columns; --exclude leaves files and folders out");
        }
        FileTable images = files.only(ImageFormat::isNamedSo); // a file alone may be called otherwise
        found.read(images.size());
        if (!images.isEmpty()) {
            new ImageColumns(images, found).add();
        } else if (found.isSound()) {
            throw found.nothing("files of these kinds are read: " + ImageFormat.SUFFIXES);
        }
    }
}
