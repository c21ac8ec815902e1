/**
 * What a load reads: finds the files of a source, checks all of them before anything is written, and opens their data.
 * Start at {@code Source} in the package {@code scan}; here is what it shares with formats and texts, and hands out.
 */
@NullMarked
package dev.larder.server.source;

import org.jspecify.annotations.NullMarked;
