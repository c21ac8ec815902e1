
# Names of datasets and arrays, read from the store: no JVM is started and no daemon asked.

# Prints the folder of the store that the command line means.
function __larder_store
    set -l words (commandline -opc)
    for i in (seq (count $words))
        if string match -q -- '--store=*' $words[$i]
            string replace -- --store= '' $words[$i]
            return
        else if test "$words[$i]" = --store; and test $i -lt (count $words)
            echo $words[(math $i + 1)]
            return
        end
    end
    for folder in "$LARDER_STORE" /dev/shm/larder-$USER /dev/shm/larder-(id -u) /dev/shm/larder
        if test -n "$folder" -a -d "$folder/data"
            echo $folder
            return
        end
    end
end

# Prints names of datasets; if the current word has a slash, of the arrays and columns of its dataset. Manifests have one line for each array.
function __larder_names
    set -l data (__larder_store)/data
    set -l dataset (string match -rg '^([^/]+)/' -- (commandline -ct))
    if test -z "$dataset"
        for folder in $data/*/
            string match -rg '([^/]+)/$' -- $folder
        end
        return
    end
    set -l manifest $data/$dataset/current/manifest.json
    test -r $manifest; or return
    for line in (head -c 1048576 $manifest | string match -r '^\{"name":".*')
        set -l name (string match -rg '^\{"name":"([^"\\\\]+)"' -- $line); or continue
        string match -q '*"part":"*' -- $line; and set name (string replace -r '/[^/]*$' '' -- $name)
        echo $dataset/$name
    end | sort -u
end

complete -c larder -n '__fish_seen_subcommand_from evict info ls path pin reload show unpin verify wait feed' -f -a '(__larder_names)'
complete -c larder -n '__fish_seen_subcommand_from run' -l hold -x -a '(__larder_names)'
