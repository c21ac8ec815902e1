/** What launches look up in the kernel, and the port that ranks meet at; not for programs that launch. */
@NullMarked
package dev.larder.launch.internal;

import org.jspecify.annotations.NullMarked;
