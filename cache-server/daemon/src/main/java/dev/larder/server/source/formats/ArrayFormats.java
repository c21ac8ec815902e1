package dev.larder.server.source.formats;

import dev.larder.server.source.SourceKind;

/** The format of each kind of files. */
public final class ArrayFormats {
    private ArrayFormats() {}

    /** Returns what reads files of a kind. */
    public static SourceFormat of(SourceKind kind) {
        return switch (kind) {
            case NPY -> new NpyFormat();
            case NPZ -> new NpzFormat();
            case SAFETENSORS -> new SafetensorsFormat();
            case IDX -> new IdxFormat();
            case TABLE -> new TableFormat();
            case RAW -> new RawFormat();
        };
    }
}
