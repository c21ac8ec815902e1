package dev.larder.command.options;

import picocli.CommandLine.ITypeConverter;

/** Reads the name of a dataset, an array or a column, which may end in a slash as a completed folder does. */
public final class NameConverter implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
        return withoutEnd(text);
    }

    /** Returns the name without slashes at its end; what it names is the same. */
    public static String withoutEnd(String name) {
        return name.replaceFirst("(?<=.)/+$", "");
    }
}
