package dev.larder.reader;

import java.util.List;

/**
 * The places to list.
 *
 * @param addresses as the user named them
 * @param connections the most requests at a time
 */
public record PlaceRequest(List<String> addresses, int connections) {
    /** Copies the list. */
    public PlaceRequest {
        addresses = List.copyOf(addresses);
    }
}
