/**
 * Sources that lie elsewhere: a reader lists and fetches them into files of the store, which are then read as those of a user are. Start at
 * {@code StagedSources}.
 */
@NullMarked
package dev.larder.server.remote;

import org.jspecify.annotations.NullMarked;
