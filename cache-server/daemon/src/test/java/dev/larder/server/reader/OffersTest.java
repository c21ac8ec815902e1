package dev.larder.server.reader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.reader.Offer;
import dev.larder.server.source.Partitioning;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OffersTest {
    private static final List<Offer> ALL = all();

    private static List<Offer> all() {
        List<Offer> offers = new ArrayList<>();
        for (String plain : List.of("code", "fixed", "fixed.items.mask", "list.offsets", "list.items.mask", "x.scale")) {
            offers.add(Offer.array(plain, "<i8", List.of(3L)));
        }
        offers.addAll(Offer.strings("code.classes", 2, 5));
        offers.addAll(Offer.strings("words.items", 2, 5));
        offers.addAll(Offer.strings("own.classes", 2, 5));
        offers.addAll(Offer.ragged("list", "<i4", 3, 9));
        return offers;
    }

    @ParameterizedTest
    @CsvSource({
        "code, BY_ROWS",
        "code.classes/bytes, REPLICATED",
        "own.classes/bytes, BY_ROWS",
        "fixed.items.mask, BY_ROWS",
        "list/values, BY_ROWS",
        "list.items.mask, IMPOSSIBLE",
        "list.offsets, IMPOSSIBLE",
        "words.items/bytes, IMPOSSIBLE",
    })
    void companionsOfAColumnAreCutIntoShardsAsThoseOfArrow(String name, Partitioning expected) {
        Offer offer = ALL.stream()
                .filter(one -> one.name().equals(name))
                .findAny()
                .orElseThrow();

        assertThat(Offers.partitioning(offer, ALL)).isEqualTo(expected);
    }
}
