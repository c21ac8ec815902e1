/**
 * The parts of {@code larder feed}: {@link dev.larder.command.feed.FieldText} parses steps, {@link
 * dev.larder.command.feed.FeedRun} publishes a loader's batches until their end.
 */
@NullMarked
package dev.larder.command.feed;

import org.jspecify.annotations.NullMarked;
