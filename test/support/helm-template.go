// SPDX-License-Identifier: Apache-2.0

// Renders the templates of a chart with Go's text/template and sprig, as Helm does. Functions of Helm that the chart does not use are
// missing, so their use is an error.
//
//	helm-template CHART < VALUES
//
// Standard input and output are JSON: the data of the templates, and the text of each file.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func main() {
	if err := render(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(chart string) error {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	var texts [2]map[string]string
	// Numbers are json.Number in newer versions of Helm, and float64 in older ones.
	for i, useNumber := range []bool{true, false} {
		decoder := json.NewDecoder(bytes.NewReader(input))
		if useNumber {
			decoder.UseNumber()
		}
		var data map[string]interface{}
		if err := decoder.Decode(&data); err != nil {
			return err
		}
		if texts[i], err = renderFiles(chart, data); err != nil {
			return err
		}
	}
	for name, text := range texts[0] {
		if text != texts[1][name] {
			return fmt.Errorf("%s differs with the type of numbers:\n%s\n%s", name, text, texts[1][name])
		}
	}
	return json.NewEncoder(os.Stdout).Encode(texts[0])
}

func renderFiles(chart string, data interface{}) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil {
		return nil, err
	}
	set := template.New("chart").Option("missingkey=zero")
	set.Funcs(functions(set))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if _, err := set.New(filepath.Base(file)).Parse(string(text)); err != nil {
			return nil, err
		}
	}
	rendered := map[string]string{}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "_") {
			continue
		}
		if rendered[name], err = executed(set, name, data); err != nil {
			return nil, err
		}
	}
	return rendered, nil
}

func executed(set *template.Template, name string, data interface{}) (string, error) {
	var out bytes.Buffer
	if err := set.ExecuteTemplate(&out, name, data); err != nil {
		return "", err
	}
	// The text that Go writes for missing values.
	return strings.ReplaceAll(out.String(), "<no value>", ""), nil
}

func functions(set *template.Template) template.FuncMap {
	all := sprig.TxtFuncMap()
	// Helm has none of them: charts must not read the environment.
	delete(all, "env")
	delete(all, "expandenv")
	all["include"] = func(name string, data interface{}) (string, error) {
		return executed(set, name, data)
	}
	// By way of JSON, like Helm.
	all["toYaml"] = func(value interface{}) (string, error) {
		text, err := json.Marshal(value)
		if err != nil {
			return "", err
		}
		var plain interface{}
		if err := yaml.Unmarshal(text, &plain); err != nil {
			return "", err
		}
		var out bytes.Buffer
		encoder := yaml.NewEncoder(&out)
		encoder.SetIndent(2)
		err = encoder.Encode(plain)
		return strings.TrimSuffix(out.String(), "\n"), err
	}
	return all
}
