/**
 * The output of {@code larder show}: {@link dev.larder.command.show.ShownRows} prints values as numpy does,
 * {@link dev.larder.command.show.Statistics} sums all of them up, {@link dev.larder.command.show.Picture} draws them.
 */
@NullMarked
package dev.larder.command.show;

import org.jspecify.annotations.NullMarked;
