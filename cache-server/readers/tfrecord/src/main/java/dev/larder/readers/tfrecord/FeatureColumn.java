package dev.larder.readers.tfrecord;

import dev.larder.reader.BadSource;
import dev.larder.reader.Offer;
import dev.larder.readers.tfrecord.Example.Kind;
import java.util.List;

/**
 * The arrays of a feature: an array if all records have the same number of numbers, else a ragged column; a column of bytes if each record has
 * at most one text, with a mask if some have none.
 */
final class FeatureColumn {
    private static final String MASK = ".mask";

    private final Form form;
    private final Kind kind;
    private final int firstOffer;
    private final int maskOffer;
    private final long rowValues;
    private long elements;

    enum Form {
        NUMBERS,
        LISTS,
        BYTES
    }

    /**
     * The place of one file's rows in the arrays.
     *
     * @param firstElement the number of values, or bytes, before them
     * @param rowValues the number of values in each row of an array
     * @param maskOffer the number of the offer of the mask, -1 if there is none
     */
    record Place(Form form, Kind kind, int firstOffer, int maskOffer, long rowValues, long firstElement) {}

    private FeatureColumn(Form form, Kind kind, int firstOffer, int maskOffer, long rowValues) {
        this.form = form;
        this.kind = kind;
        this.firstOffer = firstOffer;
        this.maskOffer = maskOffer;
        this.rowValues = rowValues;
    }

    static FeatureColumn ofRecords(String name, long rows, long bytes, List<Offer> offers) {
        int first = offers.size();
        offers.addAll(Offer.bytes(name, rows, bytes));
        return new FeatureColumn(Form.BYTES, Kind.BYTES, first, -1, 1);
    }

    /** Offers the arrays of a feature. */
    static FeatureColumn of(String level, String name, Feature feature, long rows, int file, List<Offer> offers)
            throws BadSource {
        Kind kind = feature.kind();
        String whole = level + name;
        int first = offers.size();
        if (kind == null || kind == Kind.BYTES) {
            if (feature.longest() > 1) {
                throw new BadSource(
                        file,
                        BadSource.NOWHERE,
                        name,
                        "a record has " + feature.longest() + " texts of it, and a row of a column has one",
                        "name the features that are wanted with --columns, or load records as they are with --as bytes");
            }
            offers.addAll(Offer.bytes(whole, rows, feature.byteCount()));
            int mask = -1;
            if (feature.values() < rows) {
                mask = offers.size();
                offers.add(Offer.array(whole + MASK, "|b1", List.of(rows)));
            }
            return new FeatureColumn(Form.BYTES, Kind.BYTES, first, mask, 1);
        }
        String dtype = kind == Kind.INTEGERS ? "<i8" : "<f4";
        if (!feature.isFixed()) {
            offers.addAll(Offer.ragged(whole, dtype, rows, feature.values()));
            return new FeatureColumn(Form.LISTS, kind, first, -1, 0);
        }
        offers.add(
                Offer.array(whole, dtype, feature.longest() == 1 ? List.of(rows) : List.of(rows, feature.longest())));
        return new FeatureColumn(Form.NUMBERS, kind, first, -1, feature.longest());
    }

    /** Returns the place of the next file. */
    Place place() {
        return new Place(form, kind, firstOffer, maskOffer, rowValues, elements);
    }

    /** Counts the values, or bytes, of a file. */
    void advance(long count) {
        elements += count;
    }
}
