package dev.larder.loader;

import dev.larder.loader.internal.field.SourceData;
import dev.larder.loader.sample.Mixture;
import org.jspecify.annotations.Nullable;

/** Several datasets as one, for {@link Loader#over(Source)}: created by {@link Sources}. Immutable; owns no dataset. */
public final class Source {
    private final SourceData data;
    private final @Nullable Mixture mixture;

    Source(SourceData data, @Nullable Mixture mixture) {
        this.data = data;
        this.mixture = mixture;
    }

    SourceData data() {
        return data;
    }

    /** Returns the mixture, or null if all rows have one order. */
    @Nullable
    Mixture mixture() {
        return mixture;
    }

    @Override
    public String toString() {
        return "Source{" + data.name() + " " + (mixture == null ? data.joins() : mixture) + "}";
    }
}
