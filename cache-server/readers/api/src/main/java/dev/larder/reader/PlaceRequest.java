package dev.larder.reader;

import java.util.List;

/**
 * Says which places are to be listed.
 *
 * @param addresses as the user named them
 * @param connections how many requests may be made at once
 */
public record PlaceRequest(List<String> addresses, int connections) {
    /** Copies the list. */
    public PlaceRequest {
        addresses = List.copyOf(addresses);
    }
}
