/**
 * What {@code larder feed} is made of: {@link dev.larder.command.feed.TransformText} reads steps, {@link
 * dev.larder.command.feed.FeedRun} publishes a loader's batches until their end.
 */
@NullMarked
package dev.larder.command.feed;

import org.jspecify.annotations.NullMarked;
