package dev.larder.command.options;

import dev.larder.internal.protocol.LoadOptions;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts the names of {@link LoadOptions.As} in lower case. */
final class AsConverter implements ITypeConverter<LoadOptions.As> {
    @Override
    public LoadOptions.As convert(String text) {
        for (LoadOptions.As as : LoadOptions.As.values()) {
            if (word(as).equals(text)) {
                return as;
            }
        }
        String words = String.join(", ", new Words());
        throw new TypeConversionException("not a kind: '" + text + "' (kinds are " + words + ")");
    }

    /** The kinds, for completion. */
    static final class Words implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Arrays.stream(LoadOptions.As.values()).map(AsConverter::word).iterator();
        }
    }

    private static String word(LoadOptions.As as) {
        return as.name().toLowerCase(Locale.ROOT);
    }
}
