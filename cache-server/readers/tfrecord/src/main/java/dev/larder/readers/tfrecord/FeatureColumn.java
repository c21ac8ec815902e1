package dev.larder.readers.tfrecord;

import dev.larder.reader.Offer;
import dev.larder.readers.tfrecord.Example.Kind;
import java.util.List;

/**
 * The arrays of a feature: an array if all records have the same number of numbers, else a ragged column; a column of bytes if each record has
 * at most one text, with a mask if some have none, else a column of the texts of all records, and where those of each record end.
 */
final class FeatureColumn {
    private static final String MASK = ".mask";
    private static final String ITEMS = ".items";
    private static final String OFFSETS = ".offsets";

    private final Form form;
    private final Kind kind;
    private final int firstOffer;
    private final int maskOffer;
    private final long rowValues;
    private long elements;
    private long items;

    enum Form {
        NUMBERS,
        LISTS,
        BYTES,
        LISTS_OF_BYTES
    }

    /**
     * The place of one file's rows in the arrays.
     *
     * @param firstElement the number of values, or bytes, before them
     * @param rowValues the number of values in each row of an array
     * @param maskOffer the number of the offer of the mask, -1 if there is none
     * @param firstItem the number of texts before them
     */
    record Place(
            Form form, Kind kind, int firstOffer, int maskOffer, long rowValues, long firstElement, long firstItem) {}

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
    static FeatureColumn of(String whole, Feature feature, long rows, List<Offer> offers) {
        Kind kind = feature.kind();
        int first = offers.size();
        if (kind == null || kind == Kind.BYTES) {
            if (feature.longest() > 1) {
                offers.add(Offer.array(whole + OFFSETS, "<i8", List.of(rows + 1)));
                offers.addAll(Offer.bytes(whole + ITEMS, feature.values(), feature.byteCount()));
                return new FeatureColumn(Form.LISTS_OF_BYTES, Kind.BYTES, first, -1, 0);
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
        return new Place(form, kind, firstOffer, maskOffer, rowValues, elements, items);
    }

    /** Counts the values, or bytes, of a file, and its texts. */
    void advance(long elementCount, long itemCount) {
        elements += elementCount;
        items += itemCount;
    }
}
