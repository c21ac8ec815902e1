package dev.larder.command.feed;

import dev.larder.loader.sample.Shard;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code 0/4}: the first of four ranks. */
public final class ShardConverter implements ITypeConverter<Shard> {
    private static final Pattern SHARD = Pattern.compile("(\\d{1,9})/(\\d{1,9})");

    @Override
    public Shard convert(String text) {
        Matcher shard = SHARD.matcher(text);
        if (!shard.matches()) {
            throw new TypeConversionException("not a shard: '" + text + "' (a shard is RANK/WORLD, such as 0/4)");
        }
        try {
            return Shard.of(Integer.parseInt(shard.group(1)), Integer.parseInt(shard.group(2)));
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(String.valueOf(e.getMessage()));
        }
    }
}
