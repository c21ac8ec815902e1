/** A first look at Larder: a daemon, a small dataset, and four processes that read its one copy. */
@NullMarked
package dev.larder.command.demo;

import org.jspecify.annotations.NullMarked;
