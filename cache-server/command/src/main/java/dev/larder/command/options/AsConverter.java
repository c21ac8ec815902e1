package dev.larder.command.options;

import dev.larder.internal.protocol.LoadOptions;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads what becomes of files, by the names of {@link LoadOptions.As} in small letters. */
final class AsConverter implements ITypeConverter<LoadOptions.As> {
    @Override
    public LoadOptions.As convert(String text) {
        for (LoadOptions.As as : LoadOptions.As.values()) {
            if (word(as).equals(text)) {
                return as;
            }
        }
        String words =
                Arrays.stream(LoadOptions.As.values()).map(AsConverter::word).collect(Collectors.joining(", "));
        throw new TypeConversionException("not a kind: '" + text + "' (kinds are " + words + ")");
    }

    private static String word(LoadOptions.As as) {
        return as.name().toLowerCase(Locale.ROOT);
    }
}
