package dev.larder.command.options;

import picocli.CommandLine.ITypeConverter;

/** Converts the name of a dataset, an array or a column. It may end in a slash, as completed folders do. */
public final class NameConverter implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
        return withoutEnd(text);
    }

    /** Returns the name without slashes at its end. */
    public static String withoutEnd(String name) {
        return name.replaceFirst("(?<=.)/+$", "");
    }
}
