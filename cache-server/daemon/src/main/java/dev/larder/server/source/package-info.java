/**
 * What a load reads: finds the files of a source, checks all of them before anything is written, and opens their data.
 * Start at {@link dev.larder.server.source.Source}.
 */
@NullMarked
package dev.larder.server.source;

import org.jspecify.annotations.NullMarked;
